#include "jobs/agent/attempt_job.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/file_at.hpp"
#include "core/process.hpp"
#include "core/record/attempt_writer.hpp"
#include "core/record/claim.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/trust.hpp"
#include "core/units.hpp"
#include "jobs/agent/attempt_place.hpp"
#include "jobs/agent/own_processes.hpp"
#include "jobs/agent/script_process.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/follow/hold_back.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/launch/launcher.hpp"
#include "jobs/launch/rank_failure.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/program/energy_watch.hpp"
#include "jobs/program/program_recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::seconds;

constexpr int to_be_tried_again = 75;     // EX_TEMPFAIL: stopped on request
constexpr Seconds scheduler_first{5};     // from the file `cancel` until dtjob obeys it without a signal of the scheduler
constexpr Seconds kill_after{30};         // from the end of a time limit to SIGKILL
constexpr Seconds read_on_for{5};         // from the end of the ranks to that of the search in what they have printed
constexpr Seconds orphan_grace{3};        // from the end of the ranks to SIGKILL for what they have left behind
constexpr std::size_t stderr_tail = 8192; // enough for the launcher's report of a lost node

// The exit code of a job that was asked to stop and has nothing to tell but that.
int exit_code_after(int signal) { return signal == SIGUSR1 ? to_be_tried_again : 128 + signal; }

// A crash of the ranks' own; not the effect of a signal that asked them to stop.
bool is_crash(int code)
{
  constexpr std::array crashes{SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  return std::any_of(crashes.begin(), crashes.end(), [&](int signal) { return code == 128 + signal; });
}

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
  AttemptJob(const AttemptFolder& attempt, const JobTerms& terms, Inbox& inbox)
      : attempt_(attempt), terms_(terms), inbox_(inbox), place_(attempt), begin_(Clock::now())
  {
    const auto limit = Seconds(terms.time_limit_s), ahead = Seconds(terms.signal_ahead_s);
    if (limit.count() > 0) limit_at_ = begin_ + limit;
    if (limit.count() > 0 && ahead.count() > 0 && ahead < limit) warn_at_ = begin_ + limit - ahead;
  }

  int run()
  {
    int code = static_cast<int>(ExitCode::internal);
    try {
      code = work_at_its_place();
    } catch (const std::exception& error) {
      code = static_cast<int>(ExitCode::environment);
      say(error.what(), code);
    }
    await_home();
    record_energy(); // before the end, with which the ingest reads the run again
    if (place_.was_removed())
      leave_word(code);
    else
      end_with(code);
    if (code != 0) hold_back();
    return code;
  }

 private:
  // If the home is moved before the launch, files are missing for a moment, and the work begins again.
  int work_at_its_place()
  {
    for (;;) {
      if (!await_home())
        throw Error(
            ErrorKind::environment,
            fmt::format("{} is not there: its home was removed, or it was moved and for {} seconds there was no link to its "
                        "new place. To run it: dtctl retry",
                        attempt_.path().string(), AttemptPlace::patience.count()));
      place_.watch();
      try {
        return work();
      } catch (const std::exception& error) {
        if (launches_ > 0 || !place_.has_moved()) throw;
        note(fmt::format("the home was moved while the job began ({}); it begins again", error.what()));
        recorder_.reset();
      }
    }
  }

  // Waits until the home is at its place again. Returns false if that takes too long, or the attempt was removed.
  bool await_home()
  {
    return place_.await([&] {
      note(fmt::format("{} is not there: the home was moved or removed; the job waits up to {} seconds for it",
                       attempt_.path().string(), AttemptPlace::patience.count()));
    });
  }

  // Called before the run fails because of `why`. Throws if the home was moved, because a file may have been missing only for
  // that moment; the work then begins again.
  void require_not_moved(const std::string& why) const
  {
    if (place_.has_moved()) throw Error(ErrorKind::environment, why);
  }

  int work()
  {
    const auto submission = read_intent();
    submission_ = submission;
    token_ = submission.token;
    for (const auto& path : {attempt_.run_folder(), spec_path(attempt_.run_folder()), attempt_.path(), attempt_.script()})
      require_own(path);
    if (!submission.git_state.empty()) ::setenv("DTCTL_GIT_STATE", submission.git_state.c_str(), 1); // for begin.json
    if (const auto missing = missing_predecessor(submission)) return refuse(*missing);
    take_signals();
    if (const auto why = prepare_program()) return fail_before_launch(*why);
    while (!asked_) {
      const auto ended = run_script();
      if (!ended.has_launched) return asked_ ? stopped_before_launch() : end_of_preparation(ended.code);
      note_launch(ended.code);
      if (asked_ || !may_launch_again(ended.code, submission.launch_tries)) return conclude(ended.code);
      prepare_next_launch(ended.code);
    }
    return stopped_before_launch();
  }

  // dtctl may add the job id to the file at this moment (submit/submit.cpp), so a torn file is read again.
  Submission read_intent() const
  {
    for (int look = 0; look < 50; ++look) {
      if (auto submission = read_submission(attempt_)) return *submission;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw Error(ErrorKind::environment, attempt_.submission().string() + " is missing or damaged; nothing was run");
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
    if (!is_there(spec_path(attempt_.run_folder()))) {
      require_not_moved("spec.json was missing");
      return std::nullopt;
    }
    auto run = read_planned_run(attempt_.run_folder());
    spec_ = run.spec;
    if (!run.spec.is_own_program()) return std::nullopt;
    recorder_.emplace(attempt_, std::move(run), token_);
    try {
      recorder_->prepare();
      return std::nullopt;
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  int fail_before_launch(const std::string& why) const
  {
    require_not_moved(why);
    say(why, {});
    if (const auto refusal = record_error(attempt_, own_error(0, why)); !refusal.empty()) say(refusal, {});
    return 1;
  }

  int refuse(const std::filesystem::path& predecessor) const
  {
    const auto why = fmt::format("not run: run {} did not succeed", short_key(predecessor.filename().string()));
    require_not_moved(why);
    put(attempt_.stop_reason(), why + "\n");
    say(why, 1);
    return 1;
  }

  // ---- one execution of the script ---------------------------------------------------------------------------------

  struct Ended {
    int code;
    bool has_launched;
  };

  Ended run_script()
  {
    if (recorder_) recorder_->begin_launch();
    ended_here_at_.reset();
    has_asked_scheduler_ = false;
    energy_.reset();
    ScriptProcess script(attempt_, terms_.environment);
    for (;;) {
      wait_for_event(script.launch_descriptor());
      if (script.has_launched()) watch_energy();
      if (script.has_launched() && recorder_) look_at_ranks(script);
      while (const auto signal = inbox_.next()) pass_on(*signal, script);
      keep_limits(script);
      obey_cancel(script);
      if (place_.is_lost()) end_homeless(script);
      if (const auto code = script.exit_code()) {
        if (energy_) energy_->finish();
        await_cause(*code);
        await_home();
        if (*code != 0 && script.has_launched()) learn_of_preemption();
        return {*code, script.has_launched()};
      }
    }
  }

  // Simulated runs use no energy of their own.
  void watch_energy()
  {
    if (!energy_ && spec_ && !spec_->is_simulated()) energy_.emplace(attempt_, *spec_);
    if (energy_) holds([&] { return energy_->look(), true; });
  }

  // Processes that a rank has started and left behind keep its output open, and mpirun waits for the end of that output.
  void end_orphans()
  {
    if (!recorder_->has_ended_here()) return;
    if (!ended_here_at_) ended_here_at_ = Clock::now();
    if (Clock::now() - *ended_here_at_ >= orphan_grace) end_left_behind();
  }

  // The ranks of this node have ended.
  void end_left_behind() const
  {
    for (const pid_t process : detached_processes(token_))
      if (::kill(process, SIGKILL) == 0) note(fmt::format("process {}, which the program has left behind, was ended", process));
  }

  // A full disk or a file server that does not answer may pass, and the training does not need these records.
  void look()
  {
    try {
      recorder_->look();
      if (!unrecorded_) return;
      const auto time_s = std::chrono::duration<double>(Clock::now() - unrecorded_->since).count();
      note(fmt::format("the records of the run are complete again; for {} they could not be written: {}",
                       format_duration(std::ceil(time_s)), unrecorded_->cause));
      unrecorded_.reset();
    } catch (const std::exception& error) {
      if (unrecorded_) return; // the note below was already written for this trouble
      unrecorded_ = {Clock::now(), error.what()};
      note(fmt::format("the records of the run cannot be written now: {}. The training goes on, and dtjob tries again",
                       error.what()));
    }
  }

  // False if the file system cannot answer now.
  template<class Question> static bool holds(Question question)
  {
    try {
      return question();
    } catch (const Error&) {
      return false;
    }
  }

  void look_at_ranks(const ScriptProcess& script)
  {
    look();
    end_orphans();
    if (const auto refusal = recorder_->refusal(); !refusal.empty()) {
      say(refusal, {});
      return kill_all(script);
    }
    end_if_left_alone(script, false);
  }

  // Ranks that wait for one that has left would wait until the time limit. Returns whether it is so.
  bool end_if_left_alone(const ScriptProcess& script, bool is_at_limit)
  {
    if (!recorder_ || !left_alone_.empty() || holds([&] { return is_there(attempt_.cancel()); })) return false;
    left_alone_ = recorder_->left_alone(is_at_limit);
    if (left_alone_.empty()) return false;
    std::error_code none; // a warning ahead of the limit has not ended it
    std::filesystem::remove(attempt_.stop_reason(), none);
    asked_.reset();
    asked_unix_s_ = std::numeric_limits<double>::infinity();
    recorder_->close_stall();
    kill_all(script);
    return true;
  }

  // A scheduler may send SIGTERM to every process of a job, and the script may die of it before this process has been told.
  void await_cause(int code)
  {
    constexpr int patience_ms = 200;
    if (asked_ || code <= 128) return;
    pollfd source{inbox_.descriptor(), POLLIN, 0};
    ::poll(&source, 1, patience_ms);
    take_signals();
  }

  void wait_for_event(int launch_descriptor) const
  {
    int look_ms = 2000; // until the next look whether the attempt's folder is still there
    if (energy_) look_ms = 500;
    // The reports of the ranks must be read more often.
    if (recorder_) look_ms = recorder_->is_behind() ? 0 : 250;
    std::array<pollfd, 2> sources{pollfd{inbox_.descriptor(), POLLIN, 0}, pollfd{launch_descriptor, POLLIN, 0}};
    const int left_ms = milliseconds_to(next_deadline());
    ::poll(sources.data(), sources.size(), left_ms < 0 ? look_ms : std::min(left_ms, look_ms));
  }

  void take_signals()
  {
    while (const auto signal = inbox_.next()) take(*signal);
  }

  // Remembers the signal, and the time of the first one: from then on the ranks are being stopped.
  void ask(int signal)
  {
    if (!asked_) asked_unix_s_ = now_unix_s();
    asked_ = signal;
  }

  void take(int signal)
  {
    ask(signal);
    if (terms_.on_signal) terms_.on_signal(signal);
  }

  void pass_on(int signal, ScriptProcess& script)
  {
    take(signal);
    tell(signal, script);
  }

  void tell(int signal, ScriptProcess& script) const
  {
    if (!script.has_launched()) return script.signal_group(SIGTERM);
    script.signal(signal != SIGUSR1 && must_end() ? SIGHUP : SIGUSR1);
  }

  // Cancelled or out of time: the ranks are ended instead of asked for a checkpoint.
  bool must_end() const
  {
    return holds([&] { return is_there(attempt_.cancel()); }) || holds([&] { return is_there(attempt_.stop_reason()); });
  }

  // ---- the attempt's own time limit ----------------------------------------------------------------------------------

  std::optional<Clock::time_point> next_deadline() const
  {
    std::optional<Clock::time_point> next;
    for (const auto& time : {warn_at_, limit_at_, kill_at_})
      if (time && (!next || *time < *next)) next = time;
    return next;
  }

  static int milliseconds_to(const std::optional<Clock::time_point>& time)
  {
    if (!time) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*time - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
  }

  static bool take_if_due(std::optional<Clock::time_point>& time)
  {
    if (!time || Clock::now() < *time) return false;
    time.reset();
    return true;
  }

  void keep_limits(ScriptProcess& script)
  {
    if (take_if_due(warn_at_)) {
      put(attempt_.stop_reason(), std::string(time_limit_reason) + "\n");
      ask(SIGUSR1);
      tell(SIGUSR1, script);
    }
    if (take_if_due(limit_at_) && !end_if_left_alone(script, true)) {
      put(attempt_.stop_reason(), std::string(time_limit_reason) + "\n");
      ask(SIGTERM);
      tell(SIGTERM, script);
      kill_at_ = Clock::now() + kill_after;
    }
    if (take_if_due(kill_at_)) kill_all(script);
  }

  // A cancellation that its scheduler did not pass on, because it was down. Otherwise the scheduler's signal comes first.
  void obey_cancel(ScriptProcess& script)
  {
    if (!cancelled_at_ && holds([&] { return is_there(attempt_.cancel()); })) cancelled_at_ = Clock::now();
    if (!cancelled_at_ || asked_ == SIGTERM || Clock::now() < *cancelled_at_ + scheduler_first) return;
    ask(SIGTERM);
    tell(SIGTERM, script);
    kill_at_ = Clock::now() + kill_after;
  }

  void kill_all(const ScriptProcess& script) const
  {
    end_left_ranks();
    script.signal_group(SIGKILL);
  }

  // The run can record nothing any more, and nobody could find it.
  void end_homeless(const ScriptProcess& script) const
  {
    say(fmt::format("{} {}; its run is ended", attempt_.path().string(),
                    place_.was_removed()
                        ? "was removed"
                        : fmt::format("was moved or removed, and for {} seconds there was no link to its new place",
                                      AttemptPlace::patience.count())),
        {});
    kill_all(script);
  }

  // ---- between two launches ------------------------------------------------------------------------------------------

  void note_launch(int code)
  {
    ++launches_;
    try {
      record_launch(attempt_, {launches_, now_unix_s(), code});
    } catch (const Error& error) {
      note(error.what());
    }
  }

  // It died before its first step without a word of its own: in MPI's start-up, or on a node that was not ready. Exit codes 126
  // and 127 would be the same again (launch/rank_start.hpp).
  bool may_launch_again(int code, std::int64_t tries)
  {
    const bool has_moved = place_.has_moved(); // then files may have been missing when the ranks looked for them
    if (code == 0 || place_.is_lost()) return false;
    if (!has_moved && (code == 126 || code == 127 || launches_ >= tries)) return false;
    if (!has_moved && recorder_ && recorder_->look_for_ranks()) return false; // every rank ran, so the program itself has failed
    for (const auto& word : {attempt_.cancel(), attempt_.stop_reason(), attempt_.result(), attempt_.preempted()})
      if (is_there(word)) return false;
    if (!has_moved && is_there(attempt_.error())) return false;
    return !has_stepped(attempt_);
  }

  // Ends what is left of the job on this node. A launcher that was killed can leave ranks here, which would report into the next
  // launch.
  void end_left_ranks() const
  {
    for (const pid_t process : own_processes(token_)) ::kill(process, SIGKILL);
  }

  // Removes what the launch has left, and waits a second longer each time.
  void prepare_next_launch(int code)
  {
    note(fmt::format("launch {} ended with exit code {} before the first step and is tried again", launches_, code));
    end_left_ranks();
    place_.watch();
    if (is_there(attempt_.begin()))
      std::filesystem::rename(attempt_.begin(), attempt_.path() / fmt::format("begin.{}.json", launches_));
    for (const auto& left : {attempt_.events(), attempt_.heartbeat(), attempt_.probe(), attempt_.reserve(), attempt_.error()})
      std::filesystem::remove(left);
    const auto until = Clock::now() + Seconds(launches_);
    pollfd source{inbox_.descriptor(), POLLIN, 0};
    while (!asked_ && Clock::now() < until) {
      ::poll(&source, 1, milliseconds_to(until));
      take_signals();
    }
  }

  // ---- the end -------------------------------------------------------------------------------------------------------

  int end_of_preparation(int code) const
  {
    if (code != 0) require_not_moved("job.sh failed");
    if (code != 0) return code; // the script has said which line failed
    say("job.sh ended before it launched the ranks", 1);
    return 1;
  }

  int conclude(int code)
  {
    if (recorder_) {
      read_on();
      code = conclude_program(code);
      end_left_behind();
    }
    if (read_outcome(attempt_).result) return code;
    learn_of_preemption(); // a program may end with exit code 0 when it is told to stop
    if (is_there(attempt_.preempted())) return stopped();
    if (was_cut_short(code)) return stopped_short();
    if (code != 0 && terms_.may_requeue && has_lost_a_node()) ask_for_requeue();
    if (code != 0) {
      if (!why_.empty()) say(why_, code);
      return code;
    }
    say("the ranks ended with exit code 0 but left no result", 1);
    return 1;
  }

  // A program may have printed more than was read until its end. A job that is to stop, or whose time is over, does not wait for
  // it. A signal that comes now has not ended the program, so it does not count as the cause of its end (ask()).
  void read_on()
  {
    auto until = Clock::now() + read_on_for;
    if (limit_at_) until = std::min(until, *limit_at_);
    while (!asked_ && Clock::now() < until && recorder_->read_on())
      if (const auto signal = inbox_.next()) {
        if (terms_.on_signal) terms_.on_signal(*signal);
        break;
      }
  }

  // A cluster takes a job off its nodes by SIGTERM for the ranks first. If they end of it, the job ends before this process is
  // told.
  void learn_of_preemption()
  {
    if (asked_ || has_asked_scheduler_ || !terms_.preempted_unix_s) return;
    has_asked_scheduler_ = true;
    const auto since = terms_.preempted_unix_s();
    if (!since) return;
    asked_ = SIGTERM;
    asked_unix_s_ = *since;
    note("the scheduler has begun to take this job off its nodes");
  }

  // Writes the last records. If the home is moved meanwhile, waits until it is at its place again, and writes them again.
  ProgramRecorder::End write_last_records(int code)
  {
    for (;;) {
      place_.watch();
      try {
        const auto end = recorder_->conclude(code, asked_unix_s_);
        if (!place_.has_moved() || !await_home() || is_there(attempt_.result())) return end;
      } catch (const std::exception&) {
        if (!place_.has_moved() || !await_home()) throw;
      }
    }
  }

  // Writes the records of the user's own program, and keeps why there is no result.
  int conclude_program(int code)
  {
    const auto end = write_last_records(code);
    why_ = end.why;
    if (!left_alone_.empty() && !is_there(attempt_.error())) {
      why_ = left_alone_;
      return 1;
    }
    return was_cut_short(code) ? code : end.code;
  }

  // Whether the ranks ended because they were asked to, and not by an error or a crash of their own. A run that is ended at its
  // time limit has timed out instead. When a rank of the user's own program leaves, the others may crash (PyTorch aborts).
  bool was_cut_short(int code) const
  {
    if (!asked_ || is_there(attempt_.cancel()) || is_there(attempt_.error())) return false;
    if (is_crash(code) && !recorder_) return false;
    return asked_ == SIGUSR1 || !is_there(attempt_.stop_reason());
  }

  int stopped_before_launch() const
  {
    const bool is_ended = is_there(attempt_.cancel()) || (asked_ != SIGUSR1 && is_there(attempt_.stop_reason()));
    return is_ended ? exit_code_after(*asked_) : stopped_short();
  }

  // Asked to stop, and the ranks wrote no record of it: they ended before the first step, or before the checkpoint was written.
  int stopped_short() const
  {
    const auto beat = read_heartbeat(attempt_).value_or(Heartbeat{});
    const Preemption preemption{now_unix_s(), beat.step, beat.steps, latest_checkpoint(attempt_), signal_name(*asked_)};
    record([&] {
      if (const auto refusal = record_preemption(attempt_, preemption); !refusal.empty()) say(refusal, {});
    });
    return stopped();
  }

  int stopped() const
  {
    if (terms_.may_requeue && !is_there(attempt_.cancel())) ask_for_requeue();
    return to_be_tried_again;
  }

  // No scheduler restarts a job whose script has ended by itself, so the agent asks for it.
  bool has_lost_a_node() const
  {
    for (const auto& word : {attempt_.cancel(), attempt_.stop_reason(), attempt_.error()})
      if (is_there(word)) return false;
    return lost_node(read_tail(attempt_.err(), stderr_tail)).has_value();
  }

  void ask_for_requeue() const { put(attempt_.requeue(), fmt::format("{:.0f}\n", now_unix_s())); }

  // ---- files and messages ----------------------------------------------------------------------------------------------

  // A record that cannot be written must not keep the job from ending.
  template<class Write> void record(Write write) const
  {
    try {
      write();
    } catch (const Error& error) {
      say(error.what(), {});
    }
  }

  void put(const std::filesystem::path& path, const std::string& text) const
  {
    record([&] { write_file_quick(path, text); });
  }

  // Without it the result stands.
  void record_energy() const
  {
    if (!energy_) return;
    try {
      const auto result = read_outcome(attempt_).result;
      if (result) put(energy_path(attempt_), to_json(gather_energy(attempt_, *spec_, energy_->node(), *result)));
    } catch (const std::exception& error) {
      note(fmt::format("the energy of the run could not be recorded: {}", error.what()));
    }
  }

  void end_with(int code) const
  {
    try {
      record_end(attempt_, {code, now_unix_s()});
    } catch (const std::exception& error) {
      say(fmt::format("the end of the job (exit code {}) could not be recorded in {}: {}", code, attempt_.path().string(),
                      error.what()),
          {});
    }
  }

  // The folder was removed while the run of it went on. As long as the run is there, the folder is made again for the records
  // that say so; otherwise the run would seem to be one that nobody has started yet.
  void leave_word(int code) const
  {
    const auto why = fmt::format("{}: {} is gone", removed_reason, attempt_.path().string());
    say(why, code);
    record([&] {
      if (!is_there(attempt_.run_folder()) || !submission_ || is_there(attempt_.submission())) return;
      make_folder(attempt_.path().parent_path()); // one at a time: the run's own folder is not made again
      make_folder(attempt_.path());
      if (!create_file_quick(attempt_.submission(), to_json(*submission_))) return; // another attempt has the number
      claim(attempt_, own_identity(token_, submission_->job_id, submission_->restart));
      put(attempt_.stop_reason(), why + "\n");
      end_with(code);
    });
  }

  // What happened on the way, which is no cause of the end.
  void note(const std::string& what) const { say("note: " + what, {}); }

  // A study that cannot be looked at goes on.
  void hold_back() const
  {
    try {
      const auto held = hold_back_rest(attempt_);
      if (held.empty()) return;
      note(counted(held.size(), "other run of the study is", "other runs of the study are") +
           " held back, because its first runs failed in the same way");
      if (terms_.on_held_back) terms_.on_held_back(held);
    } catch (const std::exception& error) {
      note(fmt::format("dtjob could not find out whether to hold back the rest of the study: {}", error.what()));
    }
  }

  // Writes to the attempt's stderr, or to this process's own if that is not possible.
  void say(const std::string& what, std::optional<int> code) const
  {
    const auto line = own_line(token_, what, code);
    try {
      return write_all(open_regular(attempt_.err(), O_WRONLY | O_CREAT | O_APPEND).get(), line, attempt_.err());
    } catch (const Error&) { // the place for it below is that of this process
    }
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }

  const AttemptFolder& attempt_;
  const JobTerms& terms_;
  Inbox& inbox_;
  AttemptPlace place_;
  Clock::time_point begin_;
  std::optional<Clock::time_point> warn_at_, limit_at_, kill_at_;
  std::optional<Clock::time_point> cancelled_at_;                 // when the file `cancel` was first seen
  std::optional<int> asked_;                                      // the last signal that asked the run to stop
  double asked_unix_s_ = std::numeric_limits<double>::infinity(); // when the first one did
  bool has_asked_scheduler_ = false;
  std::optional<Submission> submission_; // once it was read
  std::string token_;                    // of it; every process of the job has it in its environment
  int launches_ = 0;
  std::optional<RunSpec> spec_;
  std::optional<AttemptEnergy> energy_;     // of this node, from the launch of the ranks on
  std::optional<ProgramRecorder> recorder_; // of the user's own program
  struct Unrecorded {
    Clock::time_point since;
    std::string cause;
  };
  std::optional<Unrecorded> unrecorded_;           // records of that program cannot be written now
  std::optional<Clock::time_point> ended_here_at_; // when all its ranks on this host were first seen to have ended
  std::string left_alone_;                         // that a rank has left and others waited for it
  std::string why_;                                // why that program left no result; may be empty
};

} // namespace

int run_attempt(const AttemptFolder& attempt, const JobTerms& terms, Inbox& inbox)
{
  return AttemptJob(attempt, terms, inbox).run();
}

} // namespace dt::jobs::agent
