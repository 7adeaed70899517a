#include "jobs/agent/launch_watch.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/units.hpp"
#include "jobs/agent/script_process.hpp"
#include "jobs/attempts/attempts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <poll.h>

namespace dt::jobs::agent {
namespace {

using Clock = std::chrono::steady_clock;

class LaunchWatch {
 public:
  explicit LaunchWatch(AttemptState& state) : s_(state) {}

  LaunchOutcome run()
  {
    if (s_.program) s_.program->begin_launch();
    s_.stop.is_learned = false;
    s_.energy.reset();
    ScriptProcess script(s_.attempt, s_.terms.environment);
    for (;;) {
      wait_for_event(script.launch_descriptor());
      if (script.has_launched()) watch_energy();
      if (script.has_launched() && s_.program) look_at_ranks(script);
      while (const auto signal = s_.inbox.next()) pass_on(*signal, script);
      keep_limits(script);
      obey_cancel(script);
      if (s_.place.is_lost()) end_homeless(script);
      if (const auto code = script.exit_code()) {
        if (s_.energy) s_.energy->finish();
        await_cause(*code);
        await_home(s_);
        if (*code != 0 && script.has_launched()) learn_of_preemption(s_);
        return {*code, script.has_launched()};
      }
    }
  }

 private:
  // Simulated runs use no energy of their own.
  void watch_energy()
  {
    if (!s_.energy && s_.spec && !s_.spec->is_simulated()) s_.energy.emplace(s_.attempt, *s_.spec);
    if (!s_.energy) return;
    try {
      s_.energy->look();
    } catch (const Error&) { // the file system cannot answer now
    }
  }

  void look_at_ranks(const ScriptProcess& script)
  {
    s_.program->look();
    s_.program->end_orphans();
    if (const auto refusal = s_.program->recorder().refusal(); !refusal.empty()) {
      s_.log.say(refusal);
      return kill_all(script);
    }
    end_if_left_alone(script, false);
  }

  // Ranks that wait for one that has left would wait until the time limit. Returns whether it is so.
  bool end_if_left_alone(const ScriptProcess& script, bool is_at_limit)
  {
    if (!s_.program || is_cancelled() || !s_.program->find_left_alone(is_at_limit)) return false;
    std::error_code none; // a warning ahead of the limit has not ended it
    std::filesystem::remove(s_.attempt.stop_reason(), none);
    s_.stop.withdraw();
    kill_all(script);
    return true;
  }

  bool is_cancelled() const { return seems_there(s_.attempt.cancel()); }

  // A scheduler may send SIGTERM to every process of a job, and the script may die of it before this process has been told.
  void await_cause(int code)
  {
    constexpr int patience_ms = 200;
    if (s_.stop.signal || code <= 128) return;
    pollfd source{s_.inbox.descriptor(), POLLIN, 0};
    ::poll(&source, 1, patience_ms);
    take_signals(s_);
  }

  void wait_for_event(int launch_descriptor) const
  {
    int look_ms = 2000; // until the next look whether the attempt's folder is still there
    if (s_.energy) look_ms = 500;
    // The reports of the ranks must be read more often.
    if (s_.program) look_ms = s_.program->recorder().is_behind() ? 0 : 250;
    std::array<pollfd, 2> sources{pollfd{s_.inbox.descriptor(), POLLIN, 0}, pollfd{launch_descriptor, POLLIN, 0}};
    const int left_ms = Deadlines::milliseconds_to(s_.deadlines.next());
    ::poll(sources.data(), sources.size(), left_ms < 0 ? look_ms : std::min(left_ms, look_ms));
  }

  void pass_on(int signal, ScriptProcess& script)
  {
    s_.stop.ask(signal, now_unix_s());
    if (s_.terms.on_signal) s_.terms.on_signal(signal);
    tell(signal, script);
  }

  void tell(int signal, ScriptProcess& script) const
  {
    if (!script.has_launched()) return script.signal_group(SIGTERM);
    script.signal(signal != SIGUSR1 && must_end() ? SIGHUP : SIGUSR1);
  }

  // Cancelled or out of time: the ranks are ended instead of asked for a checkpoint.
  bool must_end() const { return is_cancelled() || seems_there(s_.attempt.stop_reason()); }

  void keep_limits(ScriptProcess& script)
  {
    for (;;) switch (s_.deadlines.take(Clock::now())) {
      case Deadlines::Due::nothing:
        return;
      case Deadlines::Due::warning:
        put_time_limit();
        s_.stop.ask(SIGUSR1, now_unix_s());
        tell(SIGUSR1, script);
        break;
      case Deadlines::Due::limit:
        if (end_if_left_alone(script, true)) break;
        put_time_limit();
        make_end(script);
        break;
      case Deadlines::Due::kill:
        kill_all(script);
        break;
      }
  }

  void put_time_limit() const
  {
    s_.log.record([&] { write_stop_reason(s_.attempt, {StopKind::time_limit}); });
  }

  void make_end(ScriptProcess& script)
  {
    s_.stop.ask(SIGTERM, now_unix_s());
    tell(SIGTERM, script);
    s_.deadlines.ends_from(Clock::now());
  }

  // The scheduler's own signal comes first, unless it was down.
  void obey_cancel(ScriptProcess& script)
  {
    if (s_.stop.signal != SIGTERM && is_cancelled() && s_.deadlines.must_obey_cancel(Clock::now())) make_end(script);
  }

  void kill_all(const ScriptProcess& script) const
  {
    end_left_ranks(s_);
    script.signal_group(SIGKILL);
  }

  // The run can record nothing any more, and nobody could find it.
  void end_homeless(const ScriptProcess& script) const
  {
    s_.log.say(fmt::format("{} {}; its run is ended", s_.attempt.path().string(),
                           s_.place.was_removed()
                               ? "was removed"
                               : fmt::format("was moved or removed, and for {} seconds there was no link to its new place",
                                             AttemptPlace::patience.count())));
    kill_all(script);
  }

  AttemptState& s_;
};

} // namespace

LaunchOutcome run_script(AttemptState& state) { return LaunchWatch(state).run(); }

} // namespace dt::jobs::agent
