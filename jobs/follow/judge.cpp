// Derives the verdict about an attempt from the evidence. reconcile.cpp collects the evidence.
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/process.hpp"
#include "core/record/batch_token.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/follow/hold_back.hpp"
#include "jobs/follow/reconcile.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/launch/rank_failure.hpp"
#include "jobs/program/departures.hpp"
#include "jobs/program/rank_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::string_view time_limit = time_limit_reason;

// Of an exit code as shells make it; 0 if it is not the code of a signal.
int signal_in(int code) { return code > 128 && code < 128 + 65 ? code - 128 : 0; }

std::string killed_by(int signal)
{
  return signal == 9 ? "SIGKILL (by hand, or by the kernel when memory ran out)" : signal_name(signal);
}

// The node of a rank, if the ranks have told where they are.
std::string host_of(const Evidence& e, std::optional<int> rank)
{
  if (!rank || !e.begin || *rank < 0 || std::cmp_greater_equal(*rank, e.begin->rank_hosts.size())) return {};
  return e.begin->rank_hosts[static_cast<std::size_t>(*rank)];
}

// "rank 1 on node1", "ranks 0-1 on node0", "a rank on node1"
std::string rank_words(const RankFailure& failure, const Evidence& e)
{
  const auto ranks = failure.ranks.empty() ? std::string("a rank") : (failure.are_several() ? "ranks " : "rank ") + failure.ranks;
  const auto host = failure.host.empty() ? host_of(e, failure.first_rank()) : failure.host;
  return ranks + (host.empty() ? "" : " on " + printable(host));
}

std::string rank_end(const RankFailure& failure, const Evidence& e)
{
  const auto who = rank_words(failure, e);
  if (failure.out_of_memory) return who + " ran out of the memory that the job has";
  if (failure.is_abort) return fmt::format("{} called MPI_Abort with the code {}", who, failure.code);
  const int signal = failure.signal > 0 ? failure.signal : signal_in(failure.code);
  if (signal > 0) return fmt::format("{} {} killed by {}", who, failure.are_several() ? "were" : "was", killed_by(signal));
  return fmt::format("{} ended with exit code {}", who, failure.code);
}

// Whether the program is a launcher that has started the ranks (program.launch).
bool has_own_launcher(const Evidence& e) { return e.begin && e.begin->environment.contains(std::string(own_launcher)); }

// The launcher's report about the rank that failed first. The exit code of a run with one rank is that rank's.
std::optional<RankFailure> failure_of_rank(const Evidence& e)
{
  if (auto failure = failure_by_torchrun(e.standard_error)) return failure;
  if (has_own_launcher(e)) return std::nullopt; // the processes of mpirun and srun are not the ranks
  auto failure = rank_failure(e.standard_error);
  if (!failure) failure = rank_failure(e.standard_output); // hydra reports there
  const bool is_only_code = failure && failure->signal == 0 && !failure->is_abort && !failure->out_of_memory;
  if (is_only_code && e.begin && e.begin->rank_hosts.size() == 1) return std::nullopt;
  return failure;
}

std::string rank_error(const RankError& error)
{
  auto text = fmt::format("rank {} on {}: {}", error.rank, error.host, error.cause);
  const bool tells_step = error.step <= 0 || error.cause.starts_with(fmt::format("step {}: ", error.step));
  return tells_step ? text : text + fmt::format(" (step {})", error.step);
}

// Whether dtctl's own line says what ended the job: it then ends with the exit code.
bool tells_end(const LastWords& words, int code) { return words.own.ends_with(fmt::format("(exit code {})", code)); }

// dtctl's own line. Of ranks that ended with exit code 0 but left no result, the line tells that code, and the job's is left out.
std::string end_in_words(const LastWords& words, int code)
{
  const bool tells_code_of_ranks = words.own.find(" ended with exit code 0") != std::string::npos;
  const auto tail = fmt::format(" (exit code {})", code);
  return tells_code_of_ranks ? words.own.substr(0, words.own.size() - tail.size()) : words.own;
}

// What the program says comes first, then its launcher, then dtctl.
std::string exit_cause(int code, const LastWords& words)
{
  if (tells_end(words, code)) return end_in_words(words, code) + (words.is_certain ? ": " + words.error : "");
  std::string told;
  for (const auto* text : {&words.error, &words.launcher, &words.own, &words.rest})
    if (told.empty()) told = *text;
  const auto tail = told.empty() ? std::string(", and nothing was printed on standard error") : ": " + told;
  if (code == static_cast<int>(ExitCode::environment) && told.empty())
    return fmt::format("exit code {}, and nothing could be written: the disk of the home may have been full, or a quota used up",
                       code);
  if (code == 0) return "the ranks ended with exit code 0 but left no result" + (told.empty() ? "" : tail);
  if (signal_in(code) > 0) return "ended by " + killed_by(signal_in(code)) + (told.empty() ? "" : tail);
  return fmt::format("exit code {}{}", code, tail);
}

// A job that ended before it claimed its run has left words in its own log only. Returns dtjob's last error there, or else the
// log's last line; empty for a job that has claimed its run, and for an empty log.
std::string words_of_unclaimed(const Evidence& e)
{
  const auto lines = split(trim(e.job_log), '\n');
  if (e.has_owner || e.begin || e.end || lines.back().empty()) return {};
  constexpr std::string_view error = "dtjob: ";
  const auto told = std::find_if(lines.rbegin(), lines.rend(), [&](const auto& line) { return line.starts_with(error); });
  return printable(told == lines.rend() ? lines.back() : told->substr(error.size()));
}

// The last line that tells of a full disk or a quota, with the sentence for it. Nothing if no line does.
std::optional<std::string> full_disk(const Evidence& e)
{
  using Row = std::pair<std::string_view, std::string_view>;
  constexpr std::array rows{Row{"No space left on device", "the disk is full"},
                            Row{"Disk quota exceeded", "the disk quota is used up"}};
  for (const auto* text : {&e.standard_error, &e.job_log}) {
    const auto lines = split(trim(*text), '\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      for (const auto& [words, sentence] : rows)
        if (line->find(words) != std::string::npos) return fmt::format("{}: {}", sentence, printable(*line));
  }
  return std::nullopt;
}

// Whether the cause may be a full disk: nobody printed another cause, or dtjob could not write (exit code 74), or the program was
// killed, or there is no exit code.
bool is_end_of_full_disk(std::optional<int> code, const LastWords& words)
{
  constexpr int killed = 128 + 9;
  const bool is_mute = words.error.empty() && words.launcher.empty() && words.own.empty();
  return !words.is_certain && (is_mute || !code || *code == killed || *code == static_cast<int>(ExitCode::environment));
}

// The rank that has ended without an exception, where the error of another rank is only that it has lost this one. Empty if it is
// not so. What is printed before the first traceback may be the rank's last words.
std::string lost_rank(const Evidence& e)
{
  if (!e.error || !tells_lost_peer(e.error->cause)) return {};
  const auto by_torchrun = failure_by_torchrun(e.standard_error);
  const auto failure = by_torchrun ? by_torchrun : failure_of_rank(e);
  if (!failure || !failure->first_rank() || failure->first_rank() == e.error->rank) return {};
  // Others that have lost the same rank end with an exit code, too; torchrun's report puts them behind it.
  const bool was_killed = failure->signal > 0 || signal_in(failure->code) > 0 || failure->out_of_memory || failure->is_abort;
  if (!was_killed && !by_torchrun) return {};
  const auto before = e.standard_error.substr(0, e.standard_error.find("Traceback (most recent call last)"));
  const auto words = last_words(before, e.submission ? e.submission->token : "");
  const auto& last = words.error.empty() ? words.rest : words.error;
  return rank_end(*failure, e) + (last.empty() ? "" : ": " + last);
}

// Explains why an attempt without a result failed; the most specific evidence comes first.
std::string failure_cause(const Evidence& e, std::optional<int> code)
{
  constexpr std::string_view not_started = "not started: ", not_run = "not run: ";
  if (e.stop_reason.starts_with(not_run) || e.stop_reason.starts_with(removed_reason)) return printable(e.stop_reason);
  if (e.stop_reason.starts_with(not_started)) return "the job could not be started: " + e.stop_reason.substr(not_started.size());
  if (const auto lost = lost_rank(e); !lost.empty()) return lost;
  if (e.error) return rank_error(*e.error);
  const auto words = last_words(e.standard_error, e.submission ? e.submission->token : "");
  if (is_end_of_full_disk(code, words))
    if (auto full = full_disk(e)) return *full;
  if (const auto failure = failure_of_rank(e); failure && !(code && tells_end(words, *code))) {
    const bool has_exited = failure->signal == 0; // the last line of a rank that a signal killed rarely explains the signal
    const auto& last = words.error.empty() && has_exited ? words.rest : words.error;
    return rank_end(*failure, e) + (last.empty() ? "" : ": " + last);
  }
  if (const auto node = lost_node(e.standard_error)) return printable(*node) + " was lost: the launcher can no longer reach it";
  if (const auto told = words_of_unclaimed(e); !told.empty())
    return fmt::format("its job ended{} before the run began: {}", code ? fmt::format(" with exit code {}", *code) : "", told);
  if (code) return exit_cause(*code, words);
  return "no end was recorded: dtjob was killed, the machine went down, or the disk was full";
}

std::string cancel_cause(const Evidence& e)
{
  if (e.cancel && e.cancel->who.starts_with(held_back)) return printable(e.cancel->who);
  return "cancelled by " + (e.cancel && !e.cancel->who.empty() ? printable(e.cancel->who) : "unknown");
}

// The last request of this kind to the scheduler, its time and the scheduler's answer; empty if there was none.
std::string asked_words(const Evidence& e, std::string_view verb)
{
  const auto wish = std::find_if(e.wishes.rbegin(), e.wishes.rend(), [&](const Wish& one) { return one.verb == verb; });
  if (wish == e.wishes.rend()) return {};
  return fmt::format("; {} was asked of {} at {}: {}", verb, e.submission->scheduler, format_time_local(wish->unix_s),
                     printable(wish->answer));
}

// The cancellation of an attempt that has not ended.
std::string being_ended(const Evidence& e, std::string_view how)
{
  return fmt::format("is being {}: {}{}", how, cancel_cause(e), asked_words(e, cancel_verb));
}

// The last stall that the ranks reported, if it has not resolved.
const StallRecord* open_stall(const Evidence& e) { return e.stall && std::isnan(e.stall->resolved_unix_s) ? &*e.stall : nullptr; }

// " at step 3 of 5"; a program of the user may not tell how many steps there are.
std::string step_words(std::int64_t step, std::int64_t steps)
{
  return fmt::format(" at step {}", step) + (steps > 0 ? fmt::format(" of {}", steps) : "");
}

// The step that the run had reached, and the checkpoint that is kept.
std::string progress_words(const Evidence& e)
{
  if (!e.preemption) return e.heartbeat ? step_words(e.heartbeat->step, e.heartbeat->steps) : "";
  const auto& p = *e.preemption;
  if (p.steps == 0 && p.step == 0) return " before its first step";
  if (p.steps == 0 || e.is_own_program) return step_words(p.step, p.steps); // such a program keeps its checkpoints itself
  return fmt::format(" at step {} of {}{}", p.step, p.steps,
                     p.checkpoint.empty() ? ", and no checkpoint could be written"
                                          : "; a checkpoint is kept: " + printable(p.checkpoint));
}

// dtjob wrote that the run was asked to stop ahead of its limit.
bool is_at_limit(const Evidence& e) { return e.stop_reason.starts_with(time_limit); }

// With the limit, if it is not that of the submission.
std::string limit_words(const Evidence& e)
{
  const auto rest = is_at_limit(e) ? std::string_view(e.stop_reason).substr(time_limit.size()) : std::string_view();
  const auto changed = number_of<double>(trim(rest));
  return "it reached its time limit" +
         (changed ? fmt::format(" ({}, changed after the submission)", format_duration(*changed)) : "");
}

std::string preemption_cause(const Evidence& e)
{
  return (is_at_limit(e) || e.stop_reason.starts_with("timed_out: ")
              ? limit_words(e)
              : "it was told to stop (" + printable(e.preemption->signal) + ")") +
         progress_words(e);
}

// The scheduler's statement about the end: "preempted: cause".
struct SchedulerWord {
  RunState state;
  std::string cause;
};

std::optional<SchedulerWord> scheduler_word(const Evidence& e)
{
  const auto colon = e.stop_reason.find(": ");
  if (colon == std::string::npos) return std::nullopt;
  const auto state = run_state_of(e.stop_reason.substr(0, colon));
  if (!state || !is_final(*state) || *state == RunState::succeeded) return std::nullopt;
  return SchedulerWord{*state, e.stop_reason.substr(colon + 2)};
}

// If a rank reported its error, that is more specific than a scheduler that only saw the job fail.
bool is_witness_better(const Evidence& e, const SchedulerWord& word)
{
  return word.state == RunState::failed && e.error.has_value();
}

std::string stall_words(const StallRecord& stall, double until_unix_s)
{
  return fmt::format("no progress for {}, at step {}: {}",
                     format_duration(std::floor(stall.stalled_s + until_unix_s - stall.unix_s)), stall.step,
                     stall.missing.empty() ? "all ranks wait for each other" : printable(words_of(stall.missing)));
}

// The verdict about an attempt that ended without a result: cancelled, stopped or failed.
Verdict over(const Evidence& e, std::string evidence, std::optional<int> code)
{
  Verdict verdict{RunState::failed, {}, std::move(evidence), code, false};
  const auto word = scheduler_word(e);
  if (e.cancel) {
    verdict.state = RunState::cancelled;
    verdict.cause = cancel_cause(e);
  } else if (word && word->state == RunState::cancelled) { // by scancel, even if the ranks stopped in an orderly way
    verdict.state = word->state;
    verdict.cause = word->cause + progress_words(e);
  } else if (e.preemption) {
    verdict.state = RunState::preempted;
    verdict.cause = preemption_cause(e);
    if (const auto asked = asked_words(e, requeue_verb); !asked.empty()) verdict.cause += ". It was not started again" + asked;
  } else if (is_at_limit(e) && !e.error) { // it is written with the warning: a rank may still fail by itself
    verdict.state = RunState::timed_out;
    verdict.cause = limit_words(e) + progress_words(e);
  } else if (word && !is_witness_better(e, *word)) {
    verdict.state = word->state;
    verdict.cause = word->cause + (word->state == RunState::failed ? "" : progress_words(e));
  } else {
    verdict.cause = failure_cause(e, code);
  }
  if (const auto* stall = open_stall(e)) verdict.cause += "; before that it was stalled: " + stall_words(*stall, stall->unix_s);
  if (e.launches.size() > 1) verdict.cause += fmt::format("; the ranks were launched {} times", e.launches.size());
  return verdict;
}

Verdict succeeded(const Evidence& e)
{
  Verdict verdict{RunState::succeeded, {}, "result.json", std::nullopt, false};
  if (!e.divergence.empty()) verdict.cause = std::string(diverged_word) + e.divergence;
  if (!e.end) return verdict;
  verdict.evidence += fmt::format("; end: exit {}", e.end->exit_code);
  verdict.exit_code = e.end->exit_code;
  if (e.end->exit_code != 0)
    verdict.cause += fmt::format("{}the result is complete, but the job then ended with exit code {}",
                                 verdict.cause.empty() ? "" : "; ", e.end->exit_code);
  return verdict;
}

std::string scheduler_words(const JobStatus& job)
{
  return "scheduler: " + (job.native_state.empty() ? "not found" : job.native_state) +
         (job.reason.empty() ? "" : " (" + job.reason + ")");
}

double age_s(double then_unix_s, double now_unix_s) { return std::abs(now_unix_s - then_unix_s); }

bool is_beating(const Evidence& e, double now) { return e.heartbeat && age_s(e.heartbeat->unix_s, now) < stall_after_s; }

Verdict running(const Evidence& e, double now)
{
  Verdict verdict{RunState::running, {}, scheduler_words(e.job), std::nullopt, false};
  if (e.job.is_suspended) {
    verdict.state = RunState::suspended;
    verdict.cause = e.cancel ? being_ended(e, "stopped") : "";
    return verdict; // its processes are stopped, so a missing heartbeat means nothing
  }
  if (e.heartbeat && !is_beating(e, now)) {
    verdict.stalled = true;
    verdict.cause = "no heartbeat for " + format_duration(std::floor(age_s(e.heartbeat->unix_s, now)));
  }
  if (const auto* stall = open_stall(e)) {
    verdict.stalled = true;
    verdict.cause = stall_words(*stall, now);
    verdict.evidence += "; stall.json";
  }
  if (e.cancel)
    verdict.cause = being_ended(e, "stopped");
  else if (is_at_limit(e))
    verdict.cause = "is being stopped: " + limit_words(e);
  return verdict;
}

// The scheduler's state is unknown to dtctl or cannot be asked: only a heartbeat proves that the run is alive.
Verdict undecided(const Evidence& e, double now)
{
  if (is_beating(e, now))
    return {RunState::running, e.cancel ? being_ended(e, "stopped") : "", "heartbeat; " + scheduler_words(e.job), std::nullopt,
            false};
  const auto cause = e.job.native_state == unreachable_state ? "its scheduler does not answer"
                     : e.job.reason.empty()                  ? "the scheduler's answer does not tell its state"
                                                             : printable(e.job.reason);
  return {RunState::unknown, cause, scheduler_words(e.job), std::nullopt, false};
}

// dtjob ends with exit code 0 only after it has written the result. If the job ended with 0 and this machine sees no result yet,
// a slow file system may still deliver it: for lost_grace_s after the begin or the last heartbeat the run does not count as
// failed.
bool is_result_late(const Evidence& e, double now)
{
  const bool is_said_otherwise = e.cancel || e.preemption || e.error || !e.stop_reason.empty();
  if (e.job.state != JobStatus::State::ended || e.job.exit_code != 0 || !e.begin || is_said_otherwise) return false;
  return age_s(e.begin->unix_s, now) < lost_grace_s || is_beating(e, now);
}

bool is_deferred(const Evidence& e) { return e.deferral && e.submission->job_id.empty() && !e.begin && !e.end && !e.cancel; }

// No scheduler knows the job and no end is recorded.
Verdict missing(const Evidence& e, double now)
{
  if (e.cancel) return over(e, "cancel; scheduler: not found", std::nullopt);
  if (is_beating(e, now)) return {RunState::running, {}, "heartbeat; scheduler: not found", std::nullopt, false};
  const bool fresh = age_s(e.submission->submitted_unix_s, now) < lost_grace_s;
  if (fresh && !e.begin) return {RunState::submitted, {}, "submission.json; scheduler: not found", std::nullopt, false};
  if (e.begin && age_s(e.begin->unix_s, now) < lost_grace_s)
    return {RunState::running, {}, "begin.json; scheduler: not found", std::nullopt, false};
  // The scheduler's word about the end could not be kept on that disk.
  if (const auto full = full_disk(e); full && e.begin)
    return {RunState::failed, *full, "no result, no end; the job's own words; scheduler: not found", std::nullopt, false};
  const auto cause = !e.job.reason.empty()          ? printable(e.job.reason)
                     : e.begin                      ? "it began, but its scheduler no longer knows it and no end is recorded"
                     : e.submission->job_id.empty() ? "its submission was interrupted before the scheduler accepted it"
                                                    : "its scheduler no longer knows it, and it never began";
  return {RunState::lost, cause, "no result, no end; scheduler: not found", std::nullopt, false};
}

// The job of a ladder continues with its other runs. When it is restarted, it skips the runs that ended by themselves.
bool is_done_in_ladder(const Evidence& e)
{
  const bool was_cut_off = e.requeue_asked || (e.preemption && !is_at_limit(e));
  return is_of_ladder(e.submission->token) && (e.cancel || !was_cut_off);
}

Verdict to_come_back(const Evidence& e, std::string evidence)
{
  const auto cause = e.cancel ? being_ended(e, "withdrawn")
                              : "will be started again; it stopped" + progress_words(e) + asked_words(e, requeue_verb);
  return {RunState::queued, cause, std::move(evidence), std::nullopt, false};
}

// The ranks ended without a result, but the scheduler still holds the job and may restart it, whatever their exit code was.
// Returns nothing if the end is final.
std::optional<Verdict> held(const Evidence& e, const std::string& files)
{
  if (!e.submission || !scheduler_row(e.submission->scheduler).restarts_jobs || is_done_in_ladder(e)) return std::nullopt;
  const auto evidence = files + "; " + scheduler_words(e.job);
  const auto ended = fmt::format("its ranks have ended (exit code {})", e.end->exit_code);
  switch (e.job.state) {
  case JobStatus::State::queued:
    return to_come_back(e, evidence);
  case JobStatus::State::running:
    if (!e.cancel && (e.requeue_asked || e.job.restarts > e.submission->restart)) return to_come_back(e, evidence);
    return Verdict{RunState::running, ended + "; its job has not ended yet", evidence, std::nullopt, false};
  case JobStatus::State::unknown:
    if (scheduler_word(e)) return std::nullopt;
    return Verdict{RunState::unknown, ended + "; its scheduler does not say whether the job will be started again", evidence,
                   std::nullopt, false};
  case JobStatus::State::ended:
  case JobStatus::State::not_found:
    break;
  }
  return std::nullopt;
}

std::string file_words(const Evidence& e)
{
  auto text = fmt::format("end: exit {}", e.end->exit_code);
  if (e.error) text += fmt::format("; error.json: rank {}", e.error->rank);
  if (e.preemption) text += fmt::format("; preempted.json: step {}", e.preemption->step);
  if (!e.stop_reason.empty()) text += "; stop_reason: " + e.stop_reason;
  if (e.cancel) text += "; cancel";
  return text + "; no result";
}

} // namespace

std::optional<std::string> cause_before_first_step(const Evidence& e)
{
  const bool was_stopped = e.cancel || e.preemption || e.requeue_asked || !e.stop_reason.empty();
  if (!e.end || e.has_result || was_stopped || (e.heartbeat && e.heartbeat->step > 0)) return std::nullopt;
  return failure_cause(e, e.end->exit_code);
}

Verdict judge(const Evidence& e, double now_unix_s)
{
  if (e.has_result) return succeeded(e);
  if (e.end) {
    const auto files = file_words(e);
    if (auto verdict = held(e, files)) return *verdict;
    return over(e, files, e.end->exit_code);
  }
  if (!e.submission) return {RunState::planned, {}, "no submission", std::nullopt, false};
  switch (e.job.state) {
  case JobStatus::State::queued:
    return {RunState::queued, e.cancel ? being_ended(e, "withdrawn") : "", scheduler_words(e.job), std::nullopt, false};
  case JobStatus::State::running:
    return running(e, now_unix_s);
  case JobStatus::State::ended:
    if (is_result_late(e, now_unix_s))
      return {RunState::running, "its job has ended with exit code 0, and its result is not here yet", scheduler_words(e.job),
              std::nullopt, false};
    return over(e, "no result, no end; " + scheduler_words(e.job), e.job.exit_code);
  case JobStatus::State::unknown:
  case JobStatus::State::not_found:
    break;
  }
  if (is_deferred(e) && e.job.native_state != elsewhere_state)
    return {RunState::planned, e.deferral->reason, "deferred.json; " + scheduler_words(e.job), std::nullopt, false};
  // An earlier statement of the scheduler about the end was stored. It still counts after the scheduler forgot the job or if it
  // cannot be reached.
  if (scheduler_word(e)) return over(e, "stop_reason: " + printable(e.stop_reason), std::nullopt);
  if (e.job.state == JobStatus::State::unknown) return undecided(e, now_unix_s);
  return missing(e, now_unix_s);
}

} // namespace dt::jobs
