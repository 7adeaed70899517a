// One attempt at a run, as mpirun starts it: MPI, the claim on the attempt's folder, start-up checks, errors, the result.
#pragma once

#include <filesystem>

namespace dt::engine {

struct JobOptions {
  std::filesystem::path attempt; // <run folder>/attempts/<n>; the spec lies in the run folder
  std::filesystem::path data;    // folder of the data set; empty: the spec's data.path
};

// Starts MPI, trains, leaves the records of core/run_record.hpp; the exit status of this rank. result.json is written last
// and only when every rank has finished. An error on any rank goes to stderr and error.json with rank and cause, and ends all
// ranks at once. When another process has claimed the attempt before, nothing is written and the status is 1.
int run_job(const JobOptions& options);

} // namespace dt::engine
