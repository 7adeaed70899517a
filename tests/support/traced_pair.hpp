// Two programs at the same time, each stopped at chosen system calls: how a test drives two processes through the orders of their
// moments.
#pragma once

#include "core/files/file.hpp"
#include "tests/support/tracing.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dt::test {

// The names of half of the items, drawn with a seed that is printed. $DTCTL_TEST_SEED gives the seed; with $DTCTL_TEST_ALL_ORDERS
// all names are returned.
template<class Items> std::set<std::string> drawn_half(const Items& items)
{
  const char* given = std::getenv("DTCTL_TEST_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  std::vector<std::string> names;
  for (const auto& [name, item] : items) names.push_back(name);
  if (std::getenv("DTCTL_TEST_ALL_ORDERS") == nullptr) {
    std::shuffle(names.begin(), names.end(), std::mt19937(seed));
    names.resize((names.size() + 1) / 2);
    std::printf("half of the orders; the same again: DTCTL_TEST_SEED=%u\n", seed);
  }
  return {names.begin(), names.end()};
}

// The caller must have no other children that end meanwhile. A program that is left is killed.
class TracedPair {
 public:
  enum class At { call, lock, end };

  // Counted are calls that change names, and of paths that begin with one of `looked_at` also calls that look at names. The path
  // begins with one of `within` and contains none of `without`.
  struct Counted {
    std::vector<std::string> within, without;
    std::vector<std::string> looked_at = {};
  };

  struct Options {
    tracing::Followed followed = tracing::Followed::threads;      // with processes, a program is itself and all that it starts
    std::array<std::string, 2> outputs{"/dev/null", "/dev/null"}; // where the programs print
  };

  TracedPair(const std::vector<std::string>& first, const std::vector<std::string>& second, Counted counted)
      : TracedPair(first, second, std::move(counted), Options())
  {
  }
  TracedPair(const std::vector<std::string>& first, const std::vector<std::string>& second, Counted counted, Options options)
      : counted_(std::move(counted)), options_(std::move(options))
  {
    start(0, first);
    start(1, second);
  }
  TracedPair(const TracedPair&) = delete;
  TracedPair& operator=(const TracedPair&) = delete;
  ~TracedPair()
  {
    for (const auto& [process, which] : owners_)
      if (is_traced(process)) ::kill(process, SIGKILL);
    int status = 0;
    for (pid_t thread = 0; (thread = ::waitpid(-1, &status, __WALL)) > 0;)
      if (WIFSTOPPED(status)) tracing::go_on(thread, status);
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
        owners_.erase(thread);
        auto* ended = thread == programs_[0].leader ? &programs_[0] : thread == programs_[1].leader ? &programs_[1] : nullptr;
        if (ended == nullptr) continue; // another thread has ended, or a process that the program has started
        ended->has_ended = true;
        ended->status = status;
        if (ended == &one) return At::end;
        continue;
      }
      auto& owner = owner_of(thread);
      if (const auto process = tracing::started_process(thread, status)) owners_[*process] = which_is(owner);
      const auto call = tracing::entered_call(thread, status);
      const bool is_counted = call && counts(thread, *call);
      if (is_counted) ++owner.calls;
      const bool waits = &owner == &one && call && tracing::waits_for_lock(*call) && is_held(thread, call->entry.args[0]);
      const bool is_there = &owner == &one && is_counted && one.calls == stop_before;
      if (&owner != &one || waits || is_there)
        owner.stopped.emplace_back(thread, status);
      else
        tracing::go_on(thread, status);
      if (waits) return At::lock;
      if (is_there) {
        last_call_ = read_file("/proc/" + std::to_string(thread) + "/comm");
        last_call_ += "call " + std::to_string(call->entry.nr) + " of " + tracing::path_of(thread, *call);
        return At::call;
      }
    }
    throw system_error("wait for a traced child", errno);
  }

  // Number of counted calls so far.
  int calls_of(std::size_t which) const { return programs_.at(which).calls; }
  // The program, the number of the system call and the path of the counted call before which the latest run() has stopped.
  const std::string& last_call() const { return last_call_; }
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

  void start(std::size_t which, const std::vector<std::string>& words)
  {
    auto& one = programs_.at(which);
    one.leader = tracing::start([&] { tracing::execute(words, options_.outputs.at(which)); }, options_.followed);
    one.stopped.emplace_back(one.leader, 0);
    owners_[one.leader] = which;
  }

  bool counts(pid_t thread, const __ptrace_syscall_info& call) const
  {
    const bool changes = tracing::changes_names(call);
    if (!changes && (counted_.looked_at.empty() || !tracing::uses_names(call))) return false;
    const auto path = tracing::path_of(thread, call);
    const auto begins = [&](const auto& text) { return path.starts_with(text); };
    const auto holds = [&](const auto& text) { return path.find(text) != std::string::npos; };
    return std::any_of(counted_.within.begin(), counted_.within.end(), begins) &&
           (changes || std::any_of(counted_.looked_at.begin(), counted_.looked_at.end(), begins)) &&
           std::none_of(counted_.without.begin(), counted_.without.end(), holds);
  }

  static bool is_held(pid_t thread, std::uint64_t descriptor)
  {
    return !FileLock::try_acquire("/proc/" + std::to_string(thread) + "/fd/" + std::to_string(descriptor));
  }

  std::size_t which_is(const Program& one) const { return &one == &programs_[0] ? 0 : 1; }

  // Not a later process with the number of one that has ended.
  static bool is_traced(pid_t process)
  {
    const auto facts = read_file_if_exists("/proc/" + std::to_string(process) + "/status");
    return facts && number_in(*facts, "\nTracerPid:") == ::getpid();
  }

  static pid_t number_in(const std::string& facts, const std::string& name)
  {
    return std::stoi(facts.substr(facts.find(name) + name.size()));
  }

  // The program to which the thread belongs. A new process may report before the one that has started it does.
  Program& owner_of(pid_t thread)
  {
    const auto facts = read_file("/proc/" + std::to_string(thread) + "/status");
    const auto process = number_in(facts, "\nTgid:");
    if (const auto known = owners_.find(process); known != owners_.end()) return programs_.at(known->second);
    const auto parent = owners_.find(number_in(facts, "\nPPid:"));
    if (parent == owners_.end()) throw Error(ErrorKind::internal, "a traced process has an unknown parent");
    const auto which = parent->second;
    owners_[process] = which;
    return programs_.at(which);
  }

  std::string last_call_;
  Counted counted_;
  Options options_;
  std::array<Program, 2> programs_;
  std::map<pid_t, std::size_t> owners_; // processes that have not ended: of which program
};

} // namespace dt::test
