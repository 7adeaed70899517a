#include "cli/follow/notify.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::cli {
namespace {

// NAME=value for the command.
std::vector<std::string> words_about(const NotifiedStudy& study, const std::vector<RunView>& runs, ExitCode code)
{
  const auto count = [&](auto is) { return std::to_string(std::ranges::count_if(runs, is)); };
  const auto is_open = [](const RunView& run) { return !is_final(run.row.state); };
  const auto has_succeeded = [](const RunView& run) { return run.row.state == RunState::succeeded; };
  const bool all_succeeded = std::ranges::all_of(runs, has_succeeded), any_open = std::ranges::any_of(runs, is_open);
  return {"DTCTL_STUDY=" + study.name,
          "DTCTL_STUDY_ID=" + study.id,
          std::string("DTCTL_STATE=") + (any_open        ? "unfinished"
                                         : all_succeeded ? "succeeded"
                                                         : "failed"),
          "DTCTL_RUNS=" + std::to_string(runs.size()),
          "DTCTL_SUCCEEDED=" + count(has_succeeded),
          "DTCTL_FAILED=" + count([&](const RunView& run) { return !is_open(run) && !has_succeeded(run); }),
          "DTCTL_UNFINISHED=" + count(is_open),
          "DTCTL_EXIT_CODE=" + std::to_string(static_cast<int>(code))};
}

// Standard output belongs to dtctl's results.
pid_t started(std::string command, std::vector<std::string> words)
{
  std::string shell = "/bin/sh", option = "-c";
  char* arguments[]{shell.data(), option.data(), command.data(), nullptr};
  std::vector<char*> environment;
  for (auto& word : words) environment.push_back(word.data());
  for (char** word = environ; *word != nullptr; ++word) environment.push_back(*word); // of two with one name the first counts
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, shell.c_str(), &actions, nullptr, arguments, environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

} // namespace

Option* add_notify_option(Verb& verb, std::string& command)
{
  return verb
      .add_option(
          "--notify", command,
          "when the wait is over, run this command with /bin/sh; it finds DTCTL_STUDY, DTCTL_STATE (succeeded, failed or "
          "unfinished) and counts in its environment. It runs only while this dtctl waits: after a closed terminal nobody "
          "runs it, so start such a wait with nohup or in tmux")
      ->type_name("COMMAND");
}

void notify(Context& context, const std::string& command, const NotifiedStudy& study, const std::vector<RunView>& runs,
            ExitCode code)
{
  if (command.empty()) return;
  try {
    const auto child = started(command, words_about(study, runs, code));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      context.messages.warn("the command of --notify ended with exit code {}: {}", WEXITSTATUS(status), printable(command));
    if (WIFSIGNALED(status))
      context.messages.warn("the command of --notify was ended by signal {}: {}", WTERMSIG(status), printable(command));
  } catch (const std::system_error& error) {
    context.messages.warn("the command of --notify could not be started ({}): {}", error.code().message(), printable(command));
  }
}

} // namespace dt::cli
