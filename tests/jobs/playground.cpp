#include "tests/jobs/playground.hpp"

#include "core/files/paths.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/machine/cores.hpp"
#include "jobs/registry/schedulers.hpp"
#include "tests/support/processes.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <catch2/catch.hpp>

#include <sys/wait.h>

namespace dt::jobs::testing {

namespace fs = std::filesystem;

Variable::Variable(std::string name, const std::string& value) : name_(std::move(name))
{
  if (const char* old = std::getenv(name_.c_str()); old != nullptr) before_ = old;
  ::setenv(name_.c_str(), value.c_str(), 1);
}

Variable::~Variable()
{
  if (before_)
    ::setenv(name_.c_str(), before_->c_str(), 1);
  else
    ::unsetenv(name_.c_str());
}

Playground::Playground() : home_(folder_.path() / "home")
{
  locks_.emplace("DTCTL_CORE_LOCKS", (folder_.path() / "cores").string());
}

Playground::Playground(const Playground&) : home_(folder_.path() / "home") {}

Playground::~Playground()
{
  kill_supervisor();
  for (const auto& key : keys_)
    if (const auto owner = read_owner(attempt(key)))
      for (const pid_t process : processes_of_job(*owner)) ::kill(process, SIGKILL);
}

JobRequest Playground::job(const std::string& key, const std::string& body, std::int64_t cores)
{
  const AttemptFolder folder(home_.run(key), 1);
  make_folders(folder.path());
  write_file_atomic(folder.path() / "body.sh",
                    "trap 'exit 143' TERM HUP\ntrace=" + shell_quote(trace().string()) + "\n" + body + "\n");
  write_file_atomic(folder.script(), "exec " + shell_quote(agent_program().string()) + " launch bash \"$1/body.sh\"\n");
  Submission intent{1, hash_hex(folder.path().string()), "local", "", now_unix_s(), ""};
  write_file_atomic(folder.submission(), to_json(intent));
  JobRequest request{key, intent.token, folder, {}};
  request.resources.ranks_per_node = cores;
  return request;
}

void Playground::submit(const std::vector<JobRequest>& jobs, const SubmitRules& rules)
{
  const auto outcomes = scheduler_kind("local").open(home_)->submit(jobs, rules);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    keys_.push_back(jobs[i].name);
    auto submission = *read_submission(jobs[i].attempt);
    submission.job_id = outcomes[i].job_id;
    write_file_atomic(jobs[i].attempt.submission(), to_json(submission));
  }
}

RunStatus Playground::status_of(const std::string& key) const { return reconcile(home_, std::vector{key}).front(); }

pid_t Playground::supervisor() const
{
  // A job that the supervisor has just forked off has its command line until the job's script runs.
  const auto found = test::without_children(test::processes_with_words({"supervise", "--home", home_.root().string()}));
  return found.empty() ? 0 : found.front();
}

bool Playground::kill_supervisor() const
{
  const pid_t process = supervisor();
  return process > 0 && ::kill(process, SIGKILL) == 0;
}

bool all_final(const std::vector<RunStatus>& statuses)
{
  return std::all_of(statuses.begin(), statuses.end(), [](const auto& status) { return is_final(status.verdict.state); });
}

void check_golden(const std::string& name, const std::string& text)
{
  const auto path = fs::path(DTCTL_SOURCE_DIR) / "tests" / "golden" / "scripts" / (name + ".sh");
  if (std::getenv("DTCTL_UPDATE_GOLDEN") != nullptr) write_file_atomic(path, text);
  CHECK(text == read_file_if_exists(path).value_or("(missing)"));
}

int end_of_process(pid_t child)
{
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> lines(const std::string& text)
{
  auto parts = split(text, '\n');
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

} // namespace dt::jobs::testing
