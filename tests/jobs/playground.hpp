// A home of its own with core locks of its own, and jobs that are real processes: the script is given by the test.
#pragma once

#include "core/files/file.hpp"
#include "core/home/home.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/run_record.hpp"
#include "jobs/follow/reconcile.hpp"
#include "jobs/local/queue.hpp"
#include "jobs/scheduler/scheduler.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::jobs::testing {

using Folder = test::TemporaryFolder;

// Sets a variable of the environment while it lives.
class Variable {
 public:
  Variable(std::string name, const std::string& value);
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

class Playground {
 public:
  Playground();
  // A second home on the same machine: other queue, same cores.
  explicit Playground(const Playground& beside);
  ~Playground();

  const Home& home() const { return home_; }
  // Where the jobs of a test leave traces.
  std::filesystem::path trace() const { return folder_.path() / "trace"; }
  std::string traces() const { return read_file_if_exists(trace()).value_or(""); }

  // An attempt whose launcher is a shell that runs `body`.
  JobRequest job(const std::string& key, const std::string& body, std::int64_t cores = 1);
  // Submits through the scheduler and writes the ids down, as submit_runs does.
  void submit(const std::vector<JobRequest>& jobs, const SubmitRules& rules = {});
  std::vector<RunStatus> status() const { return reconcile(home_, keys_); }
  RunStatus status_of(const std::string& key) const;
  AttemptFolder attempt(const std::string& key) const { return {home_.run(key), 1}; }

  // The one supervisor of this home; 0 when there is none.
  pid_t supervisor() const;
  // SIGKILL for the supervisor, if there is one.
  bool kill_supervisor() const;
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  Folder folder_;
  std::optional<Variable> locks_;
  Home home_;
  std::vector<std::string> keys_;
};

using dt::test::eventually;
bool all_final(const std::vector<RunStatus>& statuses);
std::vector<std::string> lines(const std::string& text);
// Compares with tests/golden/scripts/NAME.sh, or writes it if DTCTL_UPDATE_GOLDEN is set.
void check_golden(const std::string& name, const std::string& text);
// Waits for a child; its exit code, or 128 and the signal.
int end_of_process(pid_t child);

} // namespace dt::jobs::testing
