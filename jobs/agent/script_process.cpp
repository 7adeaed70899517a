#include "jobs/agent/script_process.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "jobs/machine/inbox.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::jobs::agent {
namespace {

// Number of the descriptor on which `dtjob launch` reports the launch.
constexpr const char* launch_variable = "DTCTL_LAUNCH_DESCRIPTOR";

struct ChildPlan {
  std::string script, attempt;
  const std::map<std::string, std::string>& environment;
  int in, out, err, launch;
};

// Runs in the child. This program has one thread, so the child may allocate.
[[noreturn]] void become_script(const ChildPlan& plan)
{
  ::setpgid(0, 0);
  ::dup2(plan.in, 0);
  ::dup2(plan.out, 1);
  ::dup2(plan.err, 2);
  const int launch = ::fcntl(plan.launch, F_DUPFD, 10); // without close-on-exec; low numbers are the script's
  for (const auto& [name, value] : plan.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv(launch_variable, std::to_string(launch).c_str(), 1);
  restore_job_signals();
  ::execl("/bin/bash", "bash", plan.script.c_str(), plan.attempt.c_str(), nullptr);
  ::_exit(errno == ENOENT ? 127 : 126);
}

} // namespace

ScriptProcess::Started ScriptProcess::start(const AttemptFolder& attempt, const std::map<std::string, std::string>& environment)
{
  const Descriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!in.is_open()) throw system_error("open /dev/null", errno);
  const auto out = open_regular(attempt.out(), O_WRONLY | O_CREAT | O_APPEND);
  const auto err = open_regular(attempt.err(), O_WRONLY | O_CREAT | O_APPEND);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw system_error("pipe", errno);
  const Descriptor write_end(ends[1]);
  Descriptor read_end(ends[0]);
  const ChildPlan plan{attempt.script().string(), attempt.path().string(), environment, in.get(), out.get(), err.get(), ends[1]};
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork", errno);
  if (child == 0) become_script(plan);
  ::setpgid(child, child); // also here: whichever of the two processes runs first
  return {child, std::move(read_end)};
}

ScriptProcess::ScriptProcess(const AttemptFolder& attempt, const std::map<std::string, std::string>& environment)
    : ScriptProcess(start(attempt, environment))
{
}

ScriptProcess::ScriptProcess(Started started) : pid_(started.pid), launch_(std::move(started.launch)) {}

ScriptProcess::~ScriptProcess()
{
  if (exit_code_) return;
  signal_group(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool ScriptProcess::has_launched()
{
  char word = 0;
  if (!has_launched_) has_launched_ = ::read(launch_.get(), &word, 1) == 1;
  return has_launched_;
}

std::optional<int> ScriptProcess::exit_code()
{
  int status = 0;
  if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

void ScriptProcess::signal(int number) const
{
  if (!exit_code_) ::kill(pid_, number);
}

void ScriptProcess::signal_group(int number) const
{
  if (!exit_code_) ::kill(-pid_, number);
}

void report_launch()
{
  const char* text = std::getenv(launch_variable);
  if (text == nullptr) return;
  const int descriptor = std::atoi(text);
  ::unsetenv(launch_variable);
  if (descriptor <= 2) return;
  [[maybe_unused]] const auto written = ::write(descriptor, "l", 1);
  ::close(descriptor);
}

} // namespace dt::jobs::agent
