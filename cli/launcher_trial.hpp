// dtctl doctor --launchers: which launchers start ranks on several nodes of the cluster, found out by a real job.
#pragma once

#include "cli/machine.hpp"
#include "core/run_spec.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dt::cli {

// One way to start ranks: resources.launcher and the launcher_args that it needs.
struct LaunchWay {
  std::string launcher;          // of launcher_names()
  std::vector<std::string> args; // beside the profile's own: {"--mpi=pmix"}
  std::string name() const;      // "mpirun", "srun --mpi=pmix"
};

// mpirun, and srun with every plugin; plugins that are names of the same one ("pmix", "pmix_v4") are both tried.
std::vector<LaunchWay> launch_ways(const std::vector<std::string>& mpi_plugins);

inline constexpr int tries_a_way = 5;
inline constexpr int try_limit_s = 30; // a crashed rank may leave its launcher waiting

// The job's script: each way `tries_a_way` times in turn, so that a busy moment meets all of them. It leaves in `folder` a line
// "<way> <try> <exit code> <milliseconds>" a launch in `results`, its output in <way>.<try>.out and .err, and `done` at the end.
std::string trial_script(const RunSpec& spec, std::span<const LaunchWay> ways, const std::string& engine,
                         const std::filesystem::path& folder);

// What came out of one way.
struct TrialOutcome {
  LaunchWay way;
  int tries = 0, worked = 0;
  int apart = 0;       // started, but every rank for itself: the launcher and the MPI library do not know each other
  double median_s = 0; // of those that worked
  std::string words;   // of the last failure, from its standard error
};

// A launch has worked when it ended with 0 and said that `ranks` ranks met on `nodes` hosts ("hello 4 ranks on 2 hosts").
std::vector<TrialOutcome> read_outcomes(std::span<const LaunchWay> ways, const std::filesystem::path& folder, std::int64_t ranks,
                                        std::int64_t nodes);

// The best way: most launches that worked, mpirun among equals, then the fastest. Null when none worked at all.
const TrialOutcome* best_way(std::span<const TrialOutcome> outcomes);

// A finding a way, and what to put into the profile.
std::vector<Finding> judge_outcomes(std::span<const TrialOutcome> outcomes);

} // namespace dt::cli
