// Doubts: conditions that may have distorted the figures of a study, in words.
#pragma once

#include "cli/context.hpp"
#include "store/query/doubts.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct DoubtLine {
  std::string label; // "machine busy"
  std::string text;
  bool is_warning = true; // otherwise it says that a check found nothing
};

// One line per doubt: drift, slow nodes and networks, busy machines, simulated and modelled runs.
std::vector<DoubtLine> doubt_lines(const store::Doubts& doubts);

// The doubts that bear on a whole verdict, each as a short part of its headline: "the machine was busy in 49 of 60 runs, so
// repeat when it is idle". The lines above have the details.
std::vector<std::string> deciding_facts(const store::Doubts& doubts);

// Prints the lines, for programs with their figures.
void print_doubts(Context& context, const store::Doubts& doubts);

} // namespace dt::cli
