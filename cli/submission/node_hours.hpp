// Cost of a scaling study in one allocation, compared with separate jobs.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dt::cli {

// Maximum number of starts of the run: 1, plus resources.requeue if the scheduler restarts jobs.
std::int64_t most_starts(const RunSpec& spec);

// Upper bounds: assumes that every run uses its whole time limit at every start.
struct NodeHours {
  double ladder = 0;   // all runs one after another on the nodes of the largest, including controls and pauses
  double separate = 0; // each run on its own nodes; separate jobs have no controls
  std::int64_t nodes = 0, time_limit_s = 0; // of the ladder
  std::size_t jobs = 0;                     // number of separate jobs
  std::int64_t starts = 1; // largest number of starts of a job; the hours include all starts, time_limit_s only one
};

NodeHours node_hours(const std::vector<const RunSpec*>& runs);

// Returns "ladder 6 (4 nodes for 1h30m, one wait in the queue), separate jobs 2.333 (6 waits); both by the time limits"; with
// requeues also ", with up to 3 requeues a job".
std::string describe(const NodeHours& hours);

} // namespace dt::cli
