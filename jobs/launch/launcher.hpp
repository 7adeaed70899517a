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
  // The command that starts `program` on every rank of the spec. Binding and rank counts are stated explicitly. `agent` is the
  // path of dtjob, which binds each rank (rank_start.hpp).
  virtual std::vector<std::string> command(const RunSpec& spec, const std::string& agent,
                                           const std::vector<std::string>& program) const = 0;
  // Whether `dtjob launch` blocks SIGTERM for the launcher, because the scheduler sends it to every process of the job: the ranks
  // can then write a checkpoint. SIGHUP still ends the launcher.
  virtual bool blocks_sigterm(const RunSpec&) const { return false; }
  // Variables that the launcher and the ranks need, for example thread counts.
  virtual std::map<std::string, std::string> environment(const RunSpec& spec) const = 0;
};

// The position of a rank.
struct RankPosition {
  int rank = 0, local_rank = 0;
};

// As the launcher that started this process tells it in the environment; nothing if none of the known launchers did.
std::optional<RankPosition> position_of_rank();

// Returns the launcher with this name (one of launcher_names()). Throws a recipe error for other names.
std::unique_ptr<Launcher> make_launcher(const std::string& name);

} // namespace dt::jobs
