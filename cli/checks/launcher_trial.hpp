// dtctl doctor --launchers: runs a job that finds out which launchers can start ranks on several nodes of the cluster.
#pragma once

#include "cli/checks/machine.hpp"
#include "core/spec/run_spec.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dt::cli {

// One way to start ranks: resources.launcher and the launcher_args it needs.
struct LaunchWay {
  std::string launcher;          // one of launcher_names()
  std::vector<std::string> args; // in addition to those of the profile: {"--mpi=pmix"}
  std::string name() const;      // "mpirun", "srun --mpi=pmix"
};

// mpirun, and srun with each plugin. Two names of the same plugin ("pmix", "pmix_v4") are both tried.
std::vector<LaunchWay> launch_ways(const std::vector<std::string>& mpi_plugins);

inline constexpr int tries_a_way = 5;
inline constexpr int try_limit_s = 30; // a launcher can hang after a rank has crashed

// Returns the job's script. It tries the ways in turn, each `tries_a_way` times, so that a busy moment affects all of them. In
// `folder` it writes a line "<way> <try> <exit code> <milliseconds>" per launch to `results`, the output of a launch to
// <way>.<try>.out and .err, and `done` at the end.
std::string trial_script(const RunSpec& spec, std::span<const LaunchWay> ways, const std::string& engine,
                         const std::string& agent, const std::filesystem::path& folder);

// The result of one way.
struct TrialOutcome {
  LaunchWay way;
  int tries = 0, worked = 0;
  int apart = 0;       // launches in which every rank ran alone: the launcher and the MPI library do not match
  double median_s = 0; // of the launches that worked
  std::string words;   // from the standard error of the last failure
};

// Reads the results. A launch worked if it exited with 0 and reported that `ranks` ranks met on `nodes` hosts ("hello 4 ranks on
// 2 hosts").
std::vector<TrialOutcome> read_outcomes(std::span<const LaunchWay> ways, const std::filesystem::path& folder, std::int64_t ranks,
                                        std::int64_t nodes);

// The best way: the most launches that worked; among equals mpirun, then the fastest. Null if no launch worked.
const TrialOutcome* best_way(std::span<const TrialOutcome> outcomes);

// One finding per way, and advice for the profile.
std::vector<Finding> judge_outcomes(std::span<const TrialOutcome> outcomes);

} // namespace dt::cli
