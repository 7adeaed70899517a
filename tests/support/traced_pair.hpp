// Two programs at the same time, each stopped at chosen system calls: how a test drives two processes through the orders of their
// moments.
#pragma once

#include "core/file.hpp"
#include "tests/support/tracing.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dt::test {

// The caller must have no other children that end meanwhile. A program that is left is killed.
class TracedPair {
 public:
  enum class At { call, lock, end };

  // Counted are calls whose path begins with one of `within` and contains none of `without`.
  struct Counted {
    std::vector<std::string> within, without;
  };

  TracedPair(const std::vector<std::string>& first, const std::vector<std::string>& second, Counted counted)
      : counted_(std::move(counted))
  {
    start(programs_[0], first);
    start(programs_[1], second);
  }
  TracedPair(const TracedPair&) = delete;
  TracedPair& operator=(const TracedPair&) = delete;
  ~TracedPair()
  {
    for (const auto& one : programs_) {
      if (one.has_ended) continue;
      ::kill(one.leader, SIGKILL);
      ::waitpid(one.leader, nullptr, __WALL);
    }
  }

  // Lets one of the programs (0, 1) go on, while all threads of the other stand still: to before its counted call number
  // `stop_before` (1 is the first; 0: never), to where it waits for a file lock that is held, or to its end. What it waits for
  // must be free when it goes on.
  At run(std::size_t which, int stop_before)
  {
    auto& one = programs_.at(which);
    for (const auto& [thread, status] : std::exchange(one.stopped, {})) tracing::go_on(thread, status);
    int status = 0;
    for (pid_t thread = 0; (thread = ::waitpid(-1, &status, __WALL)) > 0;) {
      if (!WIFSTOPPED(status)) {
        auto* ended = thread == programs_[0].leader ? &programs_[0] : thread == programs_[1].leader ? &programs_[1] : nullptr;
        if (ended == nullptr) continue; // another thread has ended
        ended->has_ended = true;
        ended->status = status;
        if (ended == &one) return At::end;
        continue;
      }
      auto& owner = owner_of(thread);
      const auto call = tracing::entered_call(thread, status);
      const bool is_change = call && tracing::changes_names(*call) && is_counted(tracing::path_of(thread, *call));
      if (is_change) ++owner.calls;
      const bool waits = &owner == &one && call && tracing::waits_for_lock(*call) && is_held(thread, call->entry.args[0]);
      const bool is_there = &owner == &one && is_change && one.calls == stop_before;
      if (&owner != &one || waits || is_there)
        owner.stopped.emplace_back(thread, status);
      else
        tracing::go_on(thread, status);
      if (waits) return At::lock;
      if (is_there) return At::call;
    }
    throw system_error("wait for a traced child", errno);
  }

  // Number of counted calls so far.
  int calls_of(std::size_t which) const { return programs_.at(which).calls; }
  // "exit 0", or "signal 11".
  std::string end_of(std::size_t which) const
  {
    const int status = programs_.at(which).status;
    if (!programs_.at(which).has_ended) return "not ended";
    return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status)) : "signal " + std::to_string(WTERMSIG(status));
  }

 private:
  struct Program {
    pid_t leader = 0;
    int calls = 0, status = 0;
    bool has_ended = false;
    std::vector<std::pair<pid_t, int>> stopped{}; // threads that stand still, and the status of their stop
  };

  static void start(Program& one, const std::vector<std::string>& words)
  {
    one.leader = tracing::start([&] { tracing::execute(words); });
    one.stopped.emplace_back(one.leader, 0);
  }

  bool is_counted(const std::string& path) const
  {
    const auto begins = [&](const auto& text) { return path.starts_with(text); };
    const auto holds = [&](const auto& text) { return path.find(text) != std::string::npos; };
    return std::any_of(counted_.within.begin(), counted_.within.end(), begins) &&
           std::none_of(counted_.without.begin(), counted_.without.end(), holds);
  }

  static bool is_held(pid_t thread, std::uint64_t descriptor)
  {
    return !FileLock::try_acquire("/proc/" + std::to_string(thread) + "/fd/" + std::to_string(descriptor));
  }

  Program& owner_of(pid_t thread)
  {
    const auto facts = read_file("/proc/" + std::to_string(thread) + "/status");
    const auto begin = facts.find("Tgid:") + 5;
    return std::stoi(facts.substr(begin)) == programs_[0].leader ? programs_[0] : programs_[1];
  }

  Counted counted_;
  std::array<Program, 2> programs_;
};

} // namespace dt::test
