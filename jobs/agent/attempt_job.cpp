#include "jobs/agent/attempt_job.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/trust.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/attempt_writer.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/agent/attempt_end.hpp"
#include "jobs/agent/attempt_state.hpp"
#include "jobs/agent/last_records.hpp"
#include "jobs/agent/launch_watch.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/launch/rank_failure.hpp"
#include "jobs/machine/quick_file.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::seconds;

constexpr Seconds read_on_for{5};         // from the end of the ranks to that of the search in what they have printed
constexpr std::size_t stderr_tail = 8192; // enough for the launcher's report of a lost node

// File name of the checkpoint of the highest step, "step-100.safetensors"; empty if there is none.
std::string latest_checkpoint(const AttemptFolder& attempt)
{
  std::string latest;
  std::optional<std::int64_t> highest;
  for (const auto& name : names_in(attempt.checkpoints())) {
    const auto step = checkpoint_step(name);
    if (!step || step <= highest) continue;
    highest = step;
    latest = name;
  }
  return latest;
}

class AttemptJob {
 public:
  AttemptJob(const AttemptFolder& attempt, const JobTerms& terms, Inbox& inbox) : s_(attempt, terms, inbox) {}

  int run()
  {
    int code = static_cast<int>(ExitCode::internal);
    try {
      code = work_at_its_place();
    } catch (const std::exception& error) {
      code = static_cast<int>(ExitCode::environment);
      s_.log.say(error.what(), code);
    }
    await_home(s_);
    record_energy(s_);
    record_last(s_, code);
    if (code != 0) hold_back(s_);
    return code;
  }

 private:
  // If the home is moved before the launch, files are missing for a moment, and the work begins again.
  int work_at_its_place()
  {
    for (;;) {
      if (!await_home(s_))
        throw Error(
            ErrorKind::environment,
            fmt::format("{} is not there: its home was removed, or it was moved and for {} seconds there was no link to its "
                        "new place. To run it: dtctl retry",
                        s_.attempt.path().string(), AttemptPlace::patience.count()));
      s_.place.watch();
      try {
        return work();
      } catch (const std::exception& error) {
        if (launches_ > 0 || !s_.place.has_moved()) throw;
        s_.log.note(fmt::format("the home was moved while the job began ({}); it begins again", error.what()));
        s_.program.reset();
      }
    }
  }

  // Called before the run fails because of `why`. Throws if the home was moved, because a file may have been missing only for
  // that moment; the work then begins again.
  void require_not_moved(const std::string& why) const
  {
    if (s_.place.has_moved()) throw Error(ErrorKind::environment, why);
  }

  int work()
  {
    const auto submission = read_intent();
    s_.submission = submission;
    s_.token = submission.token;
    s_.log.set_token(s_.token);
    for (const auto& path : {s_.attempt.run_folder(), spec_path(s_.attempt.run_folder()), s_.attempt.path(), s_.attempt.script()})
      require_own(path);
    if (!submission.git_state.empty()) ::setenv("DTCTL_GIT_STATE", submission.git_state.c_str(), 1); // for begin.json
    if (const auto missing = missing_predecessor(submission)) return refuse(*missing);
    take_signals(s_);
    if (const auto why = prepare_program()) return fail_before_launch(*why);
    while (!s_.stop.signal) {
      const auto ended = run_script(s_);
      if (!ended.has_launched) return s_.stop.signal ? stopped_before_launch() : end_of_preparation(ended.code);
      note_launch(ended.code);
      if (s_.stop.signal || !has_another_try(ended.code, submission.launch_tries)) return conclude(ended.code);
      prepare_next_launch(ended.code);
    }
    return stopped_before_launch();
  }

  // dtctl may add the job id to the file at this moment (submit/submit.cpp), so a torn file is read again.
  Submission read_intent() const
  {
    for (int look = 0; look < 50; ++look) {
      if (auto submission = read_submission(s_.attempt)) return *submission;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw Error(ErrorKind::environment, s_.attempt.submission().string() + " is missing or damaged; nothing was run");
  }

  // A scheduler starts a job when those before it have ended; only their results say whether they ended well.
  static std::optional<std::filesystem::path> missing_predecessor(const Submission& submission)
  {
    for (const auto& folder : submission.after) {
      const auto numbers = attempt_numbers(folder);
      if (numbers.empty() || !read_outcome(AttemptFolder(folder, numbers.back())).result) return folder;
    }
    return std::nullopt;
  }

  // Of the user's own program, whose records this process writes. Returns why it cannot run, or nothing.
  std::optional<std::string> prepare_program()
  {
    if (!is_there(spec_path(s_.attempt.run_folder()))) {
      require_not_moved("spec.json was missing");
      return std::nullopt;
    }
    auto run = read_planned_run(s_.attempt.run_folder());
    s_.spec = run.spec;
    if (!run.spec.is_own_program()) return std::nullopt;
    s_.program.emplace(s_.attempt, std::move(run), s_.token, s_.log);
    try {
      s_.program->recorder().prepare();
      return std::nullopt;
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  int fail_before_launch(const std::string& why) const
  {
    require_not_moved(why);
    s_.log.say(why);
    if (const auto refusal = record_error(s_.attempt, own_error(0, why)); !refusal.empty()) s_.log.say(refusal);
    return 1;
  }

  int refuse(const std::filesystem::path& predecessor) const
  {
    const StopReason why{StopKind::not_run, fmt::format("run {} did not succeed", short_key(predecessor.filename().string()))};
    require_not_moved(why.line());
    s_.log.record([&] { write_stop_reason(s_.attempt, why); });
    s_.log.say(why.line(), 1);
    return 1;
  }

  // ---- between two launches ------------------------------------------------------------------------------------------

  void note_launch(int code)
  {
    ++launches_;
    try {
      record_launch(s_.attempt, {launches_, now_unix_s(), code});
    } catch (const Error& error) {
      s_.log.note(error.what());
    }
  }

  // Looks which files the ranks have left. `code`: exit code of the launcher.
  LaunchEnd end_of_launch(int code) const
  {
    return {.code = code,
            .asked = s_.stop.signal,
            .result = is_there(s_.attempt.result()),
            .cancel = is_there(s_.attempt.cancel()),
            .stop_reason = is_there(s_.attempt.stop_reason()),
            .error = is_there(s_.attempt.error()),
            .preempted = is_there(s_.attempt.preempted()),
            .is_own_program = s_.program.has_value()};
  }

  bool has_another_try(int code, std::int64_t tries)
  {
    LaunchTries so_far{launches_, tries, s_.place.has_moved(), s_.place.is_lost(), false, false};
    if (code == 0 || so_far.is_lost) return false;
    so_far.all_ranks_ran = s_.program && s_.program->recorder().look_for_ranks();
    so_far.has_stepped = has_stepped(s_.attempt);
    return may_launch_again(end_of_launch(code), so_far);
  }

  // Removes what the launch has left, and waits a second longer each time.
  void prepare_next_launch(int code)
  {
    s_.log.note(fmt::format("launch {} ended with exit code {} before the first step and is tried again", launches_, code));
    end_left_ranks(s_);
    s_.place.watch();
    if (is_there(s_.attempt.begin()))
      std::filesystem::rename(s_.attempt.begin(), s_.attempt.path() / fmt::format("begin.{}.json", launches_));
    for (const auto& left :
         {s_.attempt.events(), s_.attempt.heartbeat(), s_.attempt.probe(), s_.attempt.reserve(), s_.attempt.error()})
      std::filesystem::remove(left);
    const auto until = Clock::now() + Seconds(launches_);
    pollfd source{s_.inbox.descriptor(), POLLIN, 0};
    while (!s_.stop.signal && Clock::now() < until) {
      ::poll(&source, 1, Deadlines::milliseconds_to(until));
      take_signals(s_);
    }
  }

  // ---- the end -------------------------------------------------------------------------------------------------------

  int end_of_preparation(int code) const
  {
    if (code != 0) require_not_moved("job.sh failed");
    if (code != 0) return code; // the script has said which line failed
    s_.log.say("job.sh ended before it launched the ranks", 1);
    return 1;
  }

  int conclude(int code)
  {
    if (s_.program) {
      read_on();
      code = conclude_program(code);
      s_.program->end_left_behind();
    }
    const bool has_result = read_outcome(s_.attempt).result.has_value();
    // A program that Slurm has told to stop may end with exit code 0; only Slurm knows then that it was told.
    if (!has_result) learn_of_preemption(s_);
    auto end = end_of_launch(code);
    end.result = has_result; // a damaged file is none
    switch (kind_of_end(end)) {
    case EndKind::has_result:
      return code;
    case EndKind::stopped:
      return stopped();
    case EndKind::stopped_unsaid:
      return stopped_unsaid();
    case EndKind::no_result:
      s_.log.say("the ranks ended with exit code 0 but left no result", 1);
      return 1;
    case EndKind::failed:
      break;
    }
    if (s_.terms.may_requeue && has_lost_a_node()) ask_for_requeue();
    if (!why_.empty()) s_.log.say(why_, code);
    return code;
  }

  // A program may have printed more than was read until its end. A job that is to stop, or whose time is over, does not wait for
  // it. A signal that comes now has not ended the program, so it does not count as the cause of its end (StopRequest).
  void read_on()
  {
    const auto until = s_.deadlines.within_limit(Clock::now() + read_on_for);
    while (!s_.stop.signal && Clock::now() < until && s_.program->recorder().read_on())
      if (const auto signal = s_.inbox.next()) {
        if (s_.terms.on_signal) s_.terms.on_signal(*signal);
        break;
      }
  }

  // Writes the last records. If the home is moved meanwhile, waits until it is at its place again, and writes them again.
  ProgramRecorder::End write_last_records(int code)
  {
    for (;;) {
      s_.place.watch();
      try {
        const auto end = s_.program->recorder().conclude(code, s_.stop.unix_s);
        if (!s_.place.has_moved() || !await_home(s_) || is_there(s_.attempt.result())) return end;
      } catch (const std::exception&) {
        if (!s_.place.has_moved() || !await_home(s_)) throw;
      }
    }
  }

  // Writes the records of the user's own program, and keeps why there is no result.
  int conclude_program(int code)
  {
    const auto recorded = write_last_records(code);
    const auto end = end_of_launch(code);
    const auto verdict = s_.program->verdict(recorded, code, end.error, was_cut_short(end));
    why_ = verdict.why;
    return verdict.code;
  }

  int stopped_before_launch() const
  {
    const bool is_ended = is_there(s_.attempt.cancel()) || (s_.stop.signal != SIGUSR1 && is_there(s_.attempt.stop_reason()));
    return is_ended ? exit_code_after(*s_.stop.signal) : stopped_unsaid();
  }

  // Asked to stop, and the ranks wrote no record of it: they ended before the first step, or before the checkpoint was written.
  int stopped_unsaid() const
  {
    const auto beat = read_heartbeat(s_.attempt).value_or(Heartbeat{});
    const Preemption preemption{now_unix_s(), beat.step, beat.steps, latest_checkpoint(s_.attempt), signal_name(*s_.stop.signal)};
    s_.log.record([&] {
      if (const auto refusal = record_preemption(s_.attempt, preemption); !refusal.empty()) s_.log.say(refusal);
    });
    return stopped();
  }

  int stopped() const
  {
    if (s_.terms.may_requeue && !is_there(s_.attempt.cancel())) ask_for_requeue();
    return to_be_tried_again;
  }

  // No scheduler restarts a job whose script has ended by itself, so the agent asks for it.
  bool has_lost_a_node() const
  {
    for (const auto& word : {s_.attempt.cancel(), s_.attempt.stop_reason(), s_.attempt.error()})
      if (is_there(word)) return false;
    return lost_node(read_tail(s_.attempt.err(), stderr_tail)).has_value();
  }

  void ask_for_requeue() const { s_.log.put(s_.attempt.requeue(), fmt::format("{:.3f}\n", now_unix_s())); }

  AttemptState s_;
  int launches_ = 0;
  std::string why_; // why the user's own program left no result; may be empty
};

} // namespace

int run_attempt(const AttemptFolder& attempt, const JobTerms& terms, Inbox& inbox)
{
  return AttemptJob(attempt, terms, inbox).run();
}

} // namespace dt::jobs::agent
