// Open MPI's mpirun (4.1), without its binding (rank_start.hpp).
//
// When Slurm ends, preempts or requeues a job it sends SIGTERM to every process of the job on every node: the batch script,
// mpirun, orted (mpirun's daemon on the other nodes) and the ranks. mpirun and orted answer it by killing their ranks within two
// seconds, which is sooner than a rank can finish a long step and write a checkpoint. Under Slurm both are therefore started with
// SIGTERM blocked. The ranks have it unblocked by Open MPI and stop in order; job.sh ends mpirun by SIGHUP where it must end.
#pragma once

#include "jobs/launcher.hpp"

namespace dt::jobs {

class MpirunLauncher final : public Launcher {
 public:
  std::string name() const override { return "mpirun"; }
  std::vector<std::string> command(const RunSpec& spec, const std::vector<std::string>& program) const override;
  std::vector<std::string> shield(const RunSpec& spec) const override;
  std::map<std::string, std::string> environment(const RunSpec& spec) const override;
};

} // namespace dt::jobs
