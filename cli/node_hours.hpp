// What a scaling study costs in one allocation, and as jobs of their own.
#pragma once

#include "core/run_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dt::cli {

// How often the scheduler may start the run: once, and once more each time that resources.requeue lets it (Slurm only).
std::int64_t most_starts(const RunSpec& spec);

// Upper bounds: every run is taken to use its whole time limit at every start.
struct NodeHours {
  double ladder = 0;   // all runs one after the other on the nodes of the largest, controls and the pauses between them included
  double separate = 0; // each run on its own nodes; jobs of their own have no controls
  std::int64_t nodes = 0, time_limit_s = 0; // of the ladder
  std::size_t jobs = 0;                     // separate ones
  std::int64_t starts = 1;                  // of the job with the most; hours hold all of them, time_limit_s is of one
};

NodeHours node_hours(const std::vector<const RunSpec*>& runs);

// "ladder 6 (4 nodes for 1h30m, one wait in the queue), separate jobs 2.333 (6 waits); both by the time limits"; with requeues
// also ", with up to 3 requeues a job".
std::string describe(const NodeHours& hours);

} // namespace dt::cli
