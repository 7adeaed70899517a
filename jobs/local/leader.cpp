#include "jobs/local/leader.hpp"

#include "core/error.hpp"
#include "core/files/file_at.hpp"
#include "core/files/paths.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/machine/inbox.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace dt::jobs::local {
namespace {

// Messages that the leader sends before it executes the script. If exec succeeds, it closes the pipe without a message.
constexpr char word_taken = 't';
constexpr char word_failed = 'f';

void say(int pipe, char word, const std::string& text)
{
  const auto message = word + text;
  [[maybe_unused]] const auto written = ::write(pipe, message.data(), message.size());
}

// The supervisor has all three standard streams, so a new file never is one of them.
void put_at(int descriptor, const Descriptor& file)
{
  if (!file.is_open() || ::dup2(file.get(), descriptor) < 0) throw system_error("open a standard stream", errno);
}

std::vector<std::string> environment_of(const Ticket& ticket, const std::string& job_id)
{
  std::vector<std::string> words;
  for (const auto& [name, value] : ticket.environment) words.push_back(name + "=" + value);
  words.push_back(fmt::format("{}={}", token_variable, ticket.token));
  words.push_back("DTCTL_JOB_ID=" + job_id);
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> command_of(const Ticket& ticket, const std::string& agent)
{
  return {agent,
          "run",
          "--time-limit",
          std::to_string(ticket.time_limit_s),
          "--signal-ahead",
          std::to_string(ticket.signal_ahead_s),
          ticket.attempt.string()};
}

// Does everything that can fail before the claim, because a claim cannot be undone.
void prepare(const Ticket& ticket, const AttemptFolder& attempt, const TakenCores& cores)
{
  block_job_signals(); // dtjob reads them; until it runs they wait
  ::signal(SIGPIPE, SIG_DFL);
  put_at(0, Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  put_at(1, open_regular(attempt.out(), O_WRONLY | O_CREAT | O_APPEND));
  put_at(2, open_regular(attempt.err(), O_WRONLY | O_CREAT | O_APPEND));
  bind_to(cores.cores);
  for (const auto& lock : cores.locks) ::fcntl(lock.descriptor(), F_SETFD, 0);
  if (::chdir(ticket.working_folder.c_str()) != 0 && ::chdir(attempt.path().c_str()) != 0)
    throw system_error("enter " + attempt.path().string(), errno);
}

// Runs in the child. Returns only if the script was not started.
void run_leader(const Ticket& ticket, const TakenCores& cores, const std::string& job_id, int pipe)
{
  const AttemptFolder attempt(ticket.attempt);
  std::string agent;
  ::setsid();
  try {
    agent = agent_program().string();
    if (::access(agent.c_str(), X_OK) != 0) throw system_error("execute " + agent, errno);
    if (::access(attempt.script().c_str(), R_OK) != 0) throw system_error("read " + attempt.script().string(), errno);
    prepare(ticket, attempt, cores);
    if (!claim(attempt, own_identity(ticket.token))) return say(pipe, word_taken, "");
  } catch (const std::exception& error) {
    return say(pipe, word_failed, error.what());
  }
  auto environment = environment_of(ticket, job_id);
  auto words = command_of(ticket, agent);
  if (ticket.surroundings) take_over(*ticket.surroundings);
  ::execve(words[0].c_str(), pointers(words).data(), pointers(environment).data());
  const auto message = own_line(ticket.token, "cannot start " + words[0] + ": " + system_error("exec", errno).what());
  [[maybe_unused]] const auto written = ::write(2, message.data(), message.size());
}

std::string read_until_closed(int pipe)
{
  std::string text;
  std::array<char, 512> block{};
  for (;;) {
    const auto got = ::read(pipe, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

} // namespace

StartOutcome start_leader(const Ticket& ticket, const TakenCores& cores, const std::string& job_id)
{
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe", errno);
  const pid_t child = ::fork();
  if (child == 0) {
    run_leader(ticket, cores, job_id, ends[1]);
    ::_exit(127);
  }
  const int fork_error = errno;
  ::close(ends[1]);
  const auto answer = child > 0 ? read_until_closed(ends[0]) : word_failed + std::string(system_error("fork", fork_error).what());
  ::close(ends[0]);
  if (answer.empty()) return {};
  return {answer[0] == word_taken ? StartOutcome::Kind::taken : StartOutcome::Kind::failed, answer.substr(1)};
}

} // namespace dt::jobs::local
