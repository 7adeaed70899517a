// Open MPI's mpirun (4.1). Its own binding is switched off (rank_start.hpp).
//
// When the scheduler of a cluster ends, preempts or requeues a job, it may send SIGTERM to every process of the job on every node
// (SchedulerRow::signals_launcher): the batch script, mpirun, orted (mpirun's daemon on the other nodes) and the ranks. mpirun
// and orted then kill their ranks within two seconds, which can be less than a rank needs to finish a step and write a
// checkpoint. Under such a scheduler both are therefore started with SIGTERM blocked (`dtjob launch --block-sigterm`). Open MPI
// unblocks it in the ranks, which stop in an orderly way. If dtjob must end mpirun, it uses SIGHUP.
#pragma once

#include "jobs/launch/launcher.hpp"

namespace dt::jobs {

class MpirunLauncher final : public Launcher {
 public:
  // Set by it for each rank.
  static constexpr const char *rank_variable = "OMPI_COMM_WORLD_RANK", *local_rank_variable = "OMPI_COMM_WORLD_LOCAL_RANK";
  std::string name() const override { return "mpirun"; }
  std::vector<std::string> command(const RunSpec& spec, const std::string& agent,
                                   const std::vector<std::string>& program) const override;
  bool blocks_sigterm(const RunSpec& spec) const override;
  std::map<std::string, std::string> environment(const RunSpec& spec) const override;
};

} // namespace dt::jobs
