// Doubts: conditions that may have distorted the figures of a study, in words.
#pragma once

#include "cli/command/context.hpp"
#include "store/query/doubts.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct DoubtLine {
  std::string label; // "machine busy"
  std::string text;
  bool is_warning = true; // otherwise it says that a check found nothing
};

// One line per doubt: drift, slow nodes and networks, busy machines, simulated and modelled runs, runs with different software or
// hardware, and runs whose Python environment was another one than at the submission.
std::vector<DoubtLine> doubt_lines(const store::Doubts& doubts);

// The doubts that concern the whole study: busy machines, if at least a tenth of the runs had one, and a drift beyond the noise.
// Each is a part of the verdict's headline: "the machine was busy in 49 of 60 runs, so repeat when it is idle".
std::vector<std::string> deciding_facts(const store::Doubts& doubts);

// Prints the lines, for programs with their figures.
void print_doubts(Context& context, const store::Doubts& doubts);

} // namespace dt::cli
