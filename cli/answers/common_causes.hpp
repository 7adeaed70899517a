// Common causes: runs of a study that ended without success in the same way, told once.
#pragma once

#include "cli/command/context.hpp"
#include "cli/output/cell.hpp"
#include "cli/runs/results_store.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dt::cli {

struct CommonCause {
  RunState state = RunState::failed;
  std::string cause;             // of the first of its runs
  std::vector<std::size_t> runs; // indices, at least two
  bool is_held_back = false;     // they were held back, because other runs failed (jobs/follow/hold_back.hpp)
};

// In the order of their first runs. Causes that differ only in ranks, steps and the like count as the same. Without the ordinary
// outcomes of searches (cli/runs/tuned_points.hpp).
std::vector<CommonCause> common_causes(const std::vector<RunView>& runs);

// "6 of 6 runs failed in the same way: exit code 1: ModuleNotFoundError: No module named 'torch'"
std::string sentence_of(const CommonCause& common, std::size_t all_runs);

// Prints a sentence per common cause.
void print_common_causes(Context& context, const std::vector<RunView>& runs);

// status_table(runs) without the causes that print_common_causes prints; with several of them, their numbers.
Table status_table_without_common(const std::vector<RunView>& runs);

} // namespace dt::cli
