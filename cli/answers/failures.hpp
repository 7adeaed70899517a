// Runs that ended without success, by their causes, with the last words of the first of each.
#pragma once

#include "cli/runs/results_store.hpp"
#include "core/record/attempt_files.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

struct Failure {
  std::size_t runs = 0;
  RunState state = RunState::failed;
  std::string name, key; // of the first of these runs
  std::string cause, evidence;
  std::string last_lines; // that it printed; may be empty
};

// In the order of their first runs. Causes that differ only in ranks, steps and the like count as one. Without the ordinary
// outcomes of searches (cli/runs/tuned_points.hpp).
std::vector<Failure> failures_of(const Home& home, const std::vector<RunView>& runs);

// The last lines that the program printed on standard error, or those of its launcher. What the cause says already is left out.
std::string last_lines(const AttemptFolder& attempt, std::string_view cause);

} // namespace dt::cli
