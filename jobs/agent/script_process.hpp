// One execution of an attempt's job.sh, as a child process in a process group of its own.
//
// The script prepares the environment (variables, modules, set-up lines) and then executes `dtjob launch …`, which reports the
// launch (report_launch) and becomes mpirun or srun. So one process id stands for the script and then for the launcher.
#pragma once

#include "core/files/descriptor.hpp"
#include "core/record/run_record.hpp"

#include <map>
#include <optional>
#include <string>

#include <sys/types.h>

namespace dt::jobs::agent {

class ScriptProcess {
 public:
  // Starts job.sh with `environment` added to this process's own, standard input from /dev/null and its output appended to the
  // attempt's stdout and stderr. Throws an environment error if no process can be started.
  ScriptProcess(const AttemptFolder& attempt, const std::map<std::string, std::string>& environment);
  ScriptProcess(const ScriptProcess&) = delete;
  ScriptProcess& operator=(const ScriptProcess&) = delete;
  // Kills the process group if the process still runs.
  ~ScriptProcess();

  // Whether the script has become the launcher.
  bool has_launched();
  // The exit code, 128 + n after signal n; nothing while the process runs.
  std::optional<int> exit_code();
  // Sends a signal to the process, or to the script and everything it has started.
  void signal(int number) const;
  void signal_group(int number) const;

  // Readable when the process reports the launch; -1 after that.
  int launch_descriptor() const { return has_launched_ ? -1 : launch_.get(); }

 private:
  struct Started {
    pid_t pid;
    Descriptor launch;
  };
  static Started start(const AttemptFolder& attempt, const std::map<std::string, std::string>& environment);
  explicit ScriptProcess(Started started);

  pid_t pid_;
  Descriptor launch_;
  bool has_launched_ = false;
  std::optional<int> exit_code_;
};

// For `dtjob launch`: tells the ScriptProcess that this process is about to become the launcher. Does nothing in a process that
// no ScriptProcess has started.
void report_launch();

} // namespace dt::jobs::agent
