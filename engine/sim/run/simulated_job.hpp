// `dtsim run`: executes one attempt at a simulated run. Its folder gets the same records as an attempt of dtengine.
#pragma once

#include <filesystem>

namespace dt::sim {

struct SimulatedJobOptions {
  std::filesystem::path attempt; // <run folder>/attempts/<n>; spec.json is in the run folder
};

// Simulates the run and writes the records of core/record/run_record.hpp; result.json last. Returns the exit status. If another
// process has already claimed the attempt, nothing is written and the status is 1. An error is written to stderr and error.json.
// A file `cancel` in the attempt's folder ends the process within about a second; so does a later attempt that replaces this one.
int run_simulated_job(const SimulatedJobOptions& options);

} // namespace dt::sim
