// Runs one attempt at a run, as mpirun starts it: MPI, the claim on the attempt's folder, start-up checks, errors, and the
// result.
#pragma once

#include <filesystem>

namespace dt::train {

struct JobOptions {
  std::filesystem::path attempt; // <run folder>/attempts/<n>; spec.json is in the run folder
  std::filesystem::path data;    // folder of the data set; empty: the spec's data.path
};

// Starts MPI, trains, and writes the records of core/record/run_record.hpp. Returns this rank's exit status. result.json is
// written last, and only after every rank has finished. An error on any rank is written to stderr and error.json with rank and
// cause, and ends all ranks at once. If another process has already claimed the attempt, nothing is written and the status is 1.
int run_job(const JobOptions& options);

} // namespace dt::train
