// Derives the verdict about an attempt from the evidence. reconcile.cpp collects the evidence.
#include "core/error.hpp"
#include "core/record/attempt/batch_token.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/follow/failure_cause.hpp"
#include "jobs/follow/reconcile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

std::string cancel_cause(const Evidence& e)
{
  if (e.cancel && !e.cancel->kind.empty())
    return fmt::format("{}: {}", words_of_cancellation(e.cancel->kind), printable(e.cancel->why));
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
bool is_at_limit(const Evidence& e) { return e.stop_reason && e.stop_reason->kind == StopKind::time_limit; }

// The scheduler's statement about the end; null if there is none.
const StopReason* scheduler_word(const Evidence& e)
{
  return e.stop_reason && e.stop_reason->kind == StopKind::scheduler ? &*e.stop_reason : nullptr;
}

// With the limit, if it is not that of the submission.
std::string limit_words(const Evidence& e)
{
  const auto changed = e.stop_reason ? e.stop_reason->new_limit_s : std::nullopt;
  return "it reached its time limit" +
         (changed ? fmt::format(" ({}, changed after the submission)", format_duration(*changed)) : "");
}

std::string preemption_cause(const Evidence& e)
{
  const auto* word = scheduler_word(e);
  const bool is_limit = is_at_limit(e) || (word != nullptr && word->state == RunState::timed_out);
  return (is_limit ? limit_words(e) : "it was told to stop (" + printable(e.preemption->signal) + ")") + progress_words(e);
}

std::string stall_words(const StallRecord& stall, double until_unix_s)
{
  return fmt::format("no progress for {}, at step {}: {}",
                     format_duration(std::floor(stall.stalled_s + until_unix_s - stall.unix_s)), stall.step,
                     stall.missing.empty() ? "all ranks wait for each other" : printable(words_of(stall.missing)));
}

// ---- an attempt that ended without a result: cancelled, stopped or failed ---------------------------------------------

struct End {
  RunState state;
  std::string cause;
  std::string kind{};
};

std::optional<End> by_user(const Evidence& e, std::optional<int>)
{
  if (!e.cancel) return std::nullopt;
  return End{RunState::cancelled, cancel_cause(e), std::string(e.cancel->kind)};
}

// By scancel, even if the ranks stopped in an orderly way.
std::optional<End> by_cancelled_job(const Evidence& e, std::optional<int>)
{
  const auto* word = scheduler_word(e);
  if (word == nullptr || word->state != RunState::cancelled) return std::nullopt;
  return End{word->state, word->text + progress_words(e)};
}

std::optional<End> by_preemption(const Evidence& e, std::optional<int>)
{
  if (!e.preemption) return std::nullopt;
  const auto asked = asked_words(e, requeue_verb);
  return End{RunState::preempted, preemption_cause(e) + (asked.empty() ? "" : ". It was not started again" + asked)};
}

// The word is written with the warning: a rank may still fail by itself.
std::optional<End> by_time_limit(const Evidence& e, std::optional<int>)
{
  if (!is_at_limit(e) || e.error) return std::nullopt;
  return End{RunState::timed_out, limit_words(e) + progress_words(e)};
}

// The error that a rank has told is more specific than a scheduler that only saw the job fail.
std::optional<End> by_scheduler(const Evidence& e, std::optional<int>)
{
  const auto* word = scheduler_word(e);
  if (word == nullptr || (word->state == RunState::failed && e.error)) return std::nullopt;
  return End{word->state, word->text + (word->state == RunState::failed ? "" : progress_words(e))};
}

// dtjob has told the cause where it stood. Of a job that left none, or was ended before it could, the files are searched.
std::optional<End> by_failure(const Evidence& e, std::optional<int> code)
{
  const auto cause = e.cause ? *e.cause : cause_of_failure(e, code);
  return End{RunState::failed, cause.text, cause.kind};
}

struct EndRule {
  std::string_view evidence;
  std::optional<End> (*end)(const Evidence& e, std::optional<int> code);
};
constexpr std::array end_rules{
    EndRule{"cancelled by a user of dtctl", by_user},     EndRule{"cancelled in the scheduler", by_cancelled_job},
    EndRule{"the ranks stopped in order", by_preemption}, EndRule{"its own time limit", by_time_limit},
    EndRule{"the scheduler's word", by_scheduler},        EndRule{"a failure", by_failure},
};

Verdict over(const Evidence& e, std::string evidence, std::optional<int> code)
{
  Verdict verdict{RunState::failed, {}, std::move(evidence), code, false};
  for (const auto& rule : end_rules) {
    const auto end = rule.end(e, code);
    if (!end) continue;
    verdict.state = end->state;
    verdict.cause = end->cause;
    verdict.cause_kind = end->kind;
    verdict.rule = rule.evidence;
    break;
  }
  if (const auto* stall = open_stall(e)) verdict.cause += "; before that it was stalled: " + stall_words(*stall, stall->unix_s);
  if (e.launches.size() > 1) verdict.cause += fmt::format("; the ranks were launched {} times", e.launches.size());
  return verdict;
}

// ---- an attempt that has a result, or has not ended ----------------------------------------------------------------------

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
  const bool is_said_otherwise = e.cancel || e.preemption || e.error || e.stop_reason;
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
    return {RunState::failed, full->text, "no result, no end; the job's own words; scheduler: not found",
            std::nullopt,     false,      full->kind};
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
  if (e.stop_reason) text += "; stop_reason: " + e.stop_reason->line();
  if (e.cancel) text += "; cancel";
  return text + "; no result";
}

// ---- the table --------------------------------------------------------------------------------------------------------

using Found = std::optional<Verdict>;

template<class Make> auto when(bool applies, Make make) { return applies ? std::optional(make()) : std::nullopt; }

Verdict plain(RunState state, std::string cause, std::string evidence)
{
  return {state, std::move(cause), std::move(evidence), std::nullopt, false};
}

struct JudgeRule {
  std::string_view evidence;
  Found (*verdict)(const Evidence& e, double now);
};

constexpr std::array judge_rules{
    JudgeRule{"a result", [](const Evidence& e, double) { return when(e.has_result, [&] { return succeeded(e); }); }},
    JudgeRule{"an end whose job is held by its scheduler",
              [](const Evidence& e, double) { return e.end ? held(e, file_words(e)) : std::nullopt; }},
    JudgeRule{"an end", [](const Evidence& e,
                           double) { return when(e.end.has_value(), [&] { return over(e, file_words(e), e.end->exit_code); }); }},
    JudgeRule{"no submission",
              [](const Evidence& e, double) {
                return when(!e.submission, [&] { return plain(RunState::planned, "", "no submission"); });
              }},
    JudgeRule{"a job in the queue",
              [](const Evidence& e, double) {
                return when(e.job.state == JobStatus::State::queued, [&] {
                  return plain(RunState::queued, e.cancel ? being_ended(e, "withdrawn") : "", scheduler_words(e.job));
                });
              }},
    JudgeRule{"a job that runs",
              [](const Evidence& e, double now) {
                return when(e.job.state == JobStatus::State::running, [&] { return running(e, now); });
              }},
    JudgeRule{"a job that ended with exit code 0 and whose result is late",
              [](const Evidence& e, double now) {
                return when(is_result_late(e, now), [&] {
                  return plain(RunState::running, "its job has ended with exit code 0, and its result is not here yet",
                               scheduler_words(e.job));
                });
              }},
    JudgeRule{"a job that ended",
              [](const Evidence& e, double) {
                return when(e.job.state == JobStatus::State::ended,
                            [&] { return over(e, "no result, no end; " + scheduler_words(e.job), e.job.exit_code); });
              }},
    JudgeRule{"a submission that was deferred",
              [](const Evidence& e, double) {
                return when(is_deferred(e) && e.job.native_state != elsewhere_state, [&] {
                  return plain(RunState::planned, e.deferral->reason, "deferred.json; " + scheduler_words(e.job));
                });
              }},
    // It still counts after the scheduler forgot the job or if it cannot be reached.
    JudgeRule{"an earlier word of the scheduler",
              [](const Evidence& e, double) {
                return when(scheduler_word(e) != nullptr,
                            [&] { return over(e, "stop_reason: " + printable(e.stop_reason->line()), std::nullopt); });
              }},
    JudgeRule{"a scheduler that does not tell",
              [](const Evidence& e, double now) {
                return when(e.job.state == JobStatus::State::unknown, [&] { return undecided(e, now); });
              }},
    JudgeRule{"no job", [](const Evidence& e, double now) { return Found(missing(e, now)); }},
};

} // namespace

std::vector<std::string_view> judged_evidence()
{
  std::vector<std::string_view> names;
  for (const auto& rule : judge_rules) names.push_back(rule.evidence);
  for (const auto& rule : end_rules) names.push_back(rule.evidence);
  return names;
}

std::optional<std::string> cause_before_first_step(const Evidence& e)
{
  const bool was_stopped = e.cancel || e.preemption || e.requeue_asked || e.stop_reason;
  if (!e.end || e.has_result || was_stopped || (e.heartbeat && e.heartbeat->step > 0)) return std::nullopt;
  return by_failure(e, e.end->exit_code)->cause;
}

Verdict judge(const Evidence& e, double now_unix_s)
{
  for (const auto& rule : judge_rules) {
    auto verdict = rule.verdict(e, now_unix_s);
    if (!verdict) continue;
    verdict->rule = std::string(rule.evidence) + (verdict->rule.empty() ? "" : ": " + verdict->rule);
    return *verdict;
  }
  throw Error(ErrorKind::internal, "the last row of the judge's table always has a verdict");
}

} // namespace dt::jobs
