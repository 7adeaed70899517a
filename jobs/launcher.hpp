// Launcher: how a job starts its ranks. Only words and environment; running them is the script's business.
#pragma once

#include "core/run_spec.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dt::jobs {

class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string name() const = 0;
  // The words that start `program` on every rank of the spec, with binding and rank counts stated explicitly.
  virtual std::vector<std::string> command(const RunSpec& spec, const std::vector<std::string>& program) const = 0;
  // Words before `command` in a job. They keep a SIGTERM that the scheduler sends to every process of the job from ending the
  // launcher, so that the ranks can write a checkpoint. SIGHUP still ends it.
  virtual std::vector<std::string> shield(const RunSpec&) const { return {}; }
  // Variables the launcher and the ranks need (thread counts among them).
  virtual std::map<std::string, std::string> environment(const RunSpec& spec) const = 0;
};

// The launcher of that name (of launcher_names()).
std::unique_ptr<Launcher> make_launcher(const std::string& name);

} // namespace dt::jobs
