// Launcher: builds the command and the environment that start a job's ranks. The job's script
// executes them.
#pragma once

#include "core/spec/run_spec.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string name() const = 0;
  // The command that starts `program` as every rank of the spec, or once on each node if it starts the ranks itself
  // (program.launch). Binding and the number of processes are stated explicitly. `agent` is the path of dtjob, which binds each
  // process (rank_start.hpp).
  virtual std::vector<std::string> command(const RunSpec& spec, const std::string& agent,
                                           const std::vector<std::string>& program) const = 0;
  // Whether `dtjob launch` blocks SIGTERM for the launcher, because the scheduler sends it to every process of the job: the ranks
  // can then write a checkpoint. SIGHUP still ends the launcher.
  virtual bool blocks_sigterm(const RunSpec&) const { return false; }
  // Variables that the launcher and the ranks need, for example thread counts.
  virtual std::map<std::string, std::string> environment(const RunSpec& spec) const = 0;
};

// Open MPI's mpirun (4.1). Its own binding is switched off (rank_start.hpp).
//
// When the scheduler of a cluster ends, preempts or requeues a job, it may send SIGTERM to every process of the job on every node
// (SchedulerRow::signals_launcher): the batch script, mpirun, orted (mpirun's daemon on the other nodes) and the ranks. mpirun
// and orted then kill their ranks within two seconds, which can be less than a rank needs to finish a step and write a
// checkpoint. Under such a scheduler both are therefore started with SIGTERM blocked (`dtjob launch --block-sigterm`). Open MPI
// unblocks it in the ranks, which stop in an orderly way. If dtjob must end mpirun, it uses SIGHUP.
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

// Slurm's srun, with PMIx unless launcher_args select another plugin (--mpi=pmi2). `dtctl doctor --launchers` shows which work.
class SrunLauncher final : public Launcher {
 public:
  // Set by it for each rank.
  static constexpr const char *rank_variable = "SLURM_PROCID", *local_rank_variable = "SLURM_LOCALID";
  std::string name() const override { return "srun"; }
  std::vector<std::string> command(const RunSpec& spec, const std::string& agent,
                                   const std::vector<std::string>& program) const override;
  std::map<std::string, std::string> environment(const RunSpec& spec) const override;
};

// dtjob itself: starts the ranks of a program of the user on one node, where there is no MPI (jobs/agent/rank_processes.hpp).
class OwnLauncher final : public Launcher {
 public:
  // Set by it for each rank. On one node, it is the position on the node, too.
  static constexpr const char* rank_variable = "DTCTL_STARTED_RANK";
  std::string name() const override { return "dtjob"; }
  std::vector<std::string> command(const RunSpec& spec, const std::string& agent,
                                   const std::vector<std::string>& program) const override;
  std::map<std::string, std::string> environment(const RunSpec& spec) const override;
};

// The position of a rank; with program.launch: per-node, that of the program's launcher among those of all nodes.
struct RankPosition {
  int rank = 0, local_rank = 0;
};

// As the launcher that started this process tells it in the environment; nothing if none of the known launchers did.
std::optional<RankPosition> position_of_rank();

// resources.hosts without resources.exclude; with resources.nodelist that one of them.
std::vector<std::string> usable_hosts(const ResourcesSpec& resources);

// Returns the launcher with this name (one of launcher_names()). Throws a recipe error for other names.
std::unique_ptr<Launcher> make_launcher(const std::string& name);

} // namespace dt::jobs
