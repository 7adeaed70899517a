// dtctl explain: why a run was executed, was skipped, waits or failed.
#include "cli/answers/common_causes.hpp"
#include "cli/answers/failures.hpp"
#include "cli/runs/attempt_history.hpp"
#include "cli/runs/checkpoints.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/program/environment.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/follow/hold_back.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t compared_runs = 200; // number of earlier runs of the same recipe that are compared

struct Explanation {
  std::string key, name, job_id, why;
  RunState state = RunState::planned;
  bool has_diverged = false;
  std::vector<std::string> evidence;    // the sources of the verdict
  std::vector<std::string> attempts;    // history of each attempt
  std::vector<std::string> differences; // compared with `nearest`
  std::string nearest;                  // key of the earlier run of this recipe with the fewest differences
  std::string advice;
};

// Keys of runs in other studies with the same recipe name, newest study first.
std::vector<std::string> earlier_runs(ResultsStore& results, const RunView& run)
{
  std::vector<std::string> keys;
  const auto name = run.row.name.substr(0, run.row.name.find('/'));
  for (const auto& study : store::find_studies(results.database(), name)) {
    if (study.id == run.row.study) continue;
    for (const auto& row : store::runs_of_study(results.database(), study.id)) {
      if (keys.size() >= compared_runs) return keys;
      if (row.key != run.row.key) keys.push_back(row.key);
    }
  }
  return keys;
}

std::optional<PlannedRun> spec_of(const Home& home, const std::string& key)
{
  if (!is_there(spec_path(home.run(key)))) return std::nullopt;
  return read_planned_run(home.run(key));
}

void explain_novelty(ResultsStore& results, const RunView& run, Explanation& explanation)
{
  const auto now = spec_of(results.home(), run.row.key);
  if (!now) return;
  std::optional<PlannedRun> nearest;
  for (const auto& key : earlier_runs(results, run)) {
    auto before = spec_of(results.home(), key);
    if (!before) continue;
    auto lines = differences(*before, *now);
    if (!explanation.nearest.empty() && lines.size() >= explanation.differences.size()) continue;
    explanation.nearest = key;
    explanation.differences = std::move(lines);
    nearest = std::move(before);
  }
  if (!nearest) return;
  const auto changes = environment_changes(results.home().environments(), nearest->environment_id, now->environment_id);
  for (const auto& change : texts_of(changes)) explanation.differences.push_back("Python environment: " + change);
}

// Returns ", and it goes on from step 120" if the run has a checkpoint, else an empty text.
std::string going_on(const Home& home, const RunView& run)
{
  const auto step = last_checkpoint(home.run(run.row.key), run.row.attempt);
  return step > 0 ? fmt::format("; it continues from step {}", step) : "";
}

// Returns the next step that a user can take when the scheduler will not start a run as it was submitted.
std::string remedy_for(const RunView& run)
{
  const auto& hindrance = run.live->job.hindrance;
  if (!hindrance.needs_new_job) return hindrance.remedy;
  return "dtctl cancel " + short_key(run.row.key) + ", " + hindrance.remedy + ", and submit its recipe again";
}

// Why the run was refused at the last submission of its study; empty if it was not.
std::string refusal_of(const RunView& run, const std::optional<StudyRecord>& study)
{
  if (!study) return {};
  const auto found = study->refusals.find(run.row.key);
  return found == study->refusals.end() ? "" : found->second;
}

bool has_diverged(const RunView& run)
{
  const auto says = [&](std::string_view words) { return run.row.cause.find(words) != std::string::npos; };
  return run.row.has_diverged() || says(loss_is_nan) || says(loss_is_infinite);
}

std::string advice_for(const Home& home, const RunView& run, const std::optional<StudyRecord>& study)
{
  const auto key = short_key(run.row.key);
  switch (run.row.state) {
  case RunState::planned:
    if (run.live && run.live->is_deferred) return "nothing: dtctl status, wait, watch and sweep submit it when there is room";
    if (!refusal_of(run, study).empty()) return "correct the recipe or the profile as the reason says, and submit it again";
    return "submit its recipe again: only missing runs are submitted";
  case RunState::suspended:
    return "nothing: the scheduler, or the user who suspended it (scontrol suspend), resumes it";
  case RunState::succeeded:
    if (!has_diverged(run)) return "";
    return "lower the learning rate or limit the gradient, in the recipe or in the program, and submit it again; it becomes a "
           "new run. The same run again would diverge in the same way";
  case RunState::failed:
  case RunState::lost:
    if (has_diverged(run))
      return "lower the learning rate or limit the gradient, in the recipe or in the program, and submit it again; a retry would "
             "diverge in the same way";
    if (run.row.cause.find("(NODE_FAIL)") != std::string::npos)
      return "dtctl retry " + key + going_on(home, run) +
             "; with resources.requeue: 1 in the recipe, Slurm itself starts such a run again";
    return "read dtctl logs " + key + "; after removing the cause: dtctl retry " + key + going_on(home, run);
  case RunState::timed_out:
    return "raise resources.time_limit (it does not change the run's key) and submit the recipe again" + going_on(home, run);
  case RunState::cancelled:
    if (run.row.cause_kind == cause_kind::held_back)
      return "explain the runs that failed (dtctl explain --failed), and submit the recipe again when the cause is removed";
    if (run.row.cause_kind == cause_kind::ended_early) return "nothing: its setting was far behind the best one (study.tune)";
    [[fallthrough]];
  case RunState::preempted:
    return "dtctl retry " + key + going_on(home, run);
  case RunState::running:
    return "dtctl logs -f " + key;
  case RunState::submitted:
  case RunState::queued: {
    if (is_hindered(run)) return remedy_for(run);
    const auto step = last_checkpoint(home.run(run.row.key), run.row.attempt);
    return step > 0 ? fmt::format("nothing: it continues from step {} when it starts", step) : "";
  }
  default:
    return "";
  }
}

std::vector<AttemptRecord> attempts_of(const Home& home, const RunView& run)
{
  std::vector<AttemptRecord> attempts;
  const auto folder = home.run(run.row.key);
  for (const int number : attempt_numbers(folder)) attempts.push_back(read_attempt(AttemptFolder(folder, number), history_files));
  return attempts;
}

// The submission of the attempt that the run's state is about.
std::optional<Submission> submission_of(const RunView& run, const std::vector<AttemptRecord>& attempts)
{
  const auto found =
      std::find_if(attempts.begin(), attempts.end(), [&](const auto& attempt) { return attempt.number == run.row.attempt; });
  return found == attempts.end() ? std::nullopt : found->submission;
}

std::string why(const RunView& run, const std::vector<AttemptRecord>& attempts, const std::optional<StudyRecord>& study)
{
  const auto cause = run.row.cause.empty() ? "" : ": " + run.row.cause;
  switch (run.row.state) {
  case RunState::planned:
    if (run.live && run.live->is_deferred) return "it is " + run.row.cause;
    if (const auto refusal = refusal_of(run, study); !refusal.empty()) return "it was refused: " + refusal;
    return "it was planned and never submitted";
  case RunState::submitted:
  case RunState::queued: {
    const auto reason = waiting_reason(run);
    if (is_hindered(run)) return "it cannot start as submitted: " + reason;
    if (reason.empty()) return "it waits";
    return reason.starts_with("waits") ? "it " + reason : "it waits: " + reason;
  }
  case RunState::running:
    return "it is running" + cause;
  case RunState::suspended:
    return "it is " + (waiting_reason(run).empty() ? "suspended" : waiting_reason(run)) + cause;
  case RunState::succeeded: {
    const auto submission = submission_of(run, attempts);
    const bool is_reused = study && submission && submission->study != study->id;
    if (is_reused)
      return "it was skipped: an earlier study ran the same recipe, build, data and repeat on " +
             format_time_local(submission->submitted_unix_s) + (has_diverged(run) ? "; it " + run.row.cause : "");
    const auto how = has_diverged(run) ? "it ran to its end, but it " + run.row.cause : "it ran and succeeded" + cause;
    return how + "; another submission would skip it";
  }
  case RunState::unknown:
    return "its files and the scheduler do not tell its state" + cause;
  default:
    return "it ended as " + std::string(name_of(run.row.state)) + cause;
  }
}

// "attempt 1: …" for every attempt with something to report. A single attempt without interruptions is left out.
std::vector<std::string> stories_of(const std::vector<AttemptRecord>& attempts)
{
  std::vector<std::string> stories;
  for (const auto& attempt : attempts) {
    const bool is_plain = attempts.size() == 1 && !attempt.preemption && attempt.launches.size() < 2;
    if (const auto story = is_plain ? "" : history_of(attempt); !story.empty())
      stories.push_back(fmt::format("attempt {}: {}", attempt.number, story));
  }
  return stories;
}

Explanation explain_run(ResultsStore& results, const RunView& run, const std::optional<StudyRecord>& study)
{
  const auto& home = results.home();
  const auto attempts = attempts_of(home, run);
  Explanation explanation{.key = run.row.key,
                          .name = run.row.name,
                          .job_id = run.row.job_id,
                          .why = why(run, attempts, study),
                          .state = run.row.state,
                          .has_diverged = run.row.has_diverged(),
                          .evidence = {},
                          .attempts = stories_of(attempts),
                          .differences = {},
                          .nearest = {},
                          .advice = advice_for(home, run, study)};
  if (run.live && !run.live->verdict.evidence.empty()) explanation.evidence.push_back(run.live->verdict.evidence);
  explain_novelty(results, run, explanation);
  return explanation;
}

void print(Context& context, const Home& home, const RunView& run, const Explanation& explanation)
{
  context.out.heading(explanation.name);
  context.out.field("", "key", text_cell(short_key(explanation.key)));
  if (const auto job = cluster_job(run.row); !job.empty()) context.out.field("", "job", text_cell(job));
  context.out.field("", "state", state_cell(run.row));
  context.out.field("", "why", text_cell(explanation.why));
  if (!explanation.evidence.empty()) context.out.field("", "evidence", text_cell(join(explanation.evidence, "; ")));
  for (const auto& story : explanation.attempts) context.out.field("", "history", text_cell(story));
  if (!explanation.nearest.empty())
    context.out.field(
        "", "new since",
        text_cell(short_key(explanation.nearest) + " (the most similar earlier run): " + join(explanation.differences, "; ")));
  if (!explanation.advice.empty()) context.out.field("", "next", text_cell(explanation.advice));
  const bool failed = explanation.state == RunState::failed || explanation.state == RunState::lost;
  const auto err =
      failed && run.row.attempt > 0 ? last_lines(AttemptFolder(home.run(run.row.key), run.row.attempt), run.row.cause) : "";
  if (err.empty()) return;
  context.out.block("", printable_lines(err));
}

Json to_json(const Explanation& e)
{
  return {{"key", e.key},
          {"name", e.name},
          {"job_id", e.job_id},
          {"state", name_of(e.state)},
          {"diverged", e.has_diverged},
          {"why", e.why},
          {"evidence", e.evidence},
          {"attempts", e.attempts},
          {"nearest_earlier_run", e.nearest.empty() ? Json(nullptr) : Json(e.nearest)},
          {"differences", e.differences},
          {"advice", e.advice}};
}

// Like explain_run; if the run's files cannot be read, that is the explanation.
Explanation explain_or_trouble(Context& context, ResultsStore& results, const RunView& run,
                               const std::optional<StudyRecord>& study)
{
  try {
    return explain_run(results, run, study);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    context.note_unreadable(short_key(run.row.key), error.what());
    Explanation explanation;
    explanation.key = run.row.key;
    explanation.name = run.row.name;
    explanation.why = std::string("its files cannot be read: ") + error.what();
    explanation.state = run.row.state;
    explanation.advice = "check the disk and the permissions, and try again";
    return explanation;
  }
}

// The common cause of each run, or none.
std::vector<const CommonCause*> causes_by_run(const std::vector<CommonCause>& causes, std::size_t runs)
{
  std::vector<const CommonCause*> by_run(runs, nullptr);
  for (const auto& common : causes)
    for (const auto run : common.runs) by_run[run] = &common;
  return by_run;
}

// "6 of 6 runs failed in the same way; the others are NAME, NAME and 3 more". Without a common cause: "the same is true of 6 of 8
// runs; …".
std::string others_of(const CommonCause* common, const std::vector<std::size_t>& together, const std::vector<RunView>& runs)
{
  constexpr std::size_t most_names = 5;
  std::vector<std::string> names;
  for (std::size_t i = 1; i < std::min(together.size(), most_names + 1); ++i) names.push_back(runs[together[i]].row.name);
  if (names.empty()) return common != nullptr ? "no other run ended in this way" : "";
  const auto more = together.size() - 1 - names.size();
  const auto share = fmt::format("{} of {} runs", together.size(), runs.size());
  const auto what = common == nullptr                   ? "the same is true of " + share
                    : common->is_held_back              ? share + " were held back in the same way"
                    : common->state == RunState::failed ? share + " failed in the same way"
                                                        : share + " ended in the same way";
  return fmt::format("{}; the others are {}{}", what, join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// Runs with the same text are explained once. Explanations of waiting runs are the same if their state and their reason are; of
// other runs, their differences and attempts must be equal too.
std::string kind_of(const Explanation& e)
{
  const bool waits = e.state == RunState::queued || e.state == RunState::submitted || e.state == RunState::planned;
  const auto differences = waits ? "" : join(e.differences, "\n") + "\n" + join(e.attempts, "\n");
  return std::string(name_of(e.state)) + "\n" + jobs::kind_of_cause(e.why) + "\n" + differences;
}

// Which runs are explained together: those with a common cause, and those whose explanations are the same. The list stands at the
// place of the first of them; the places of the others are empty.
std::vector<std::vector<std::size_t>> told_together(const std::vector<Explanation>& explanations,
                                                    const std::vector<const CommonCause*>& by_run)
{
  std::vector<std::vector<std::size_t>> together(explanations.size());
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    if (by_run[i] != nullptr)
      together[by_run[i]->runs.front()].push_back(i);
    else
      together[first.try_emplace(kind_of(explanations[i]), i).first->second].push_back(i);
  }
  return together;
}

ExitCode explain(Context& context, const Selector& selector)
{
  ResultsStore results(context);
  const auto selection = select(results, selector);
  const auto study = selection.study ? record_of(results.home(), *selection.study) : std::nullopt;
  const auto causes = common_causes(selection.runs);
  const auto by_run = causes_by_run(causes, selection.runs.size());
  std::vector<Explanation> explanations;
  Json list = Json::array();
  for (const auto& run : selection.runs)
    list.push_back(to_json(explanations.emplace_back(explain_or_trouble(context, results, run, study))));
  const auto together = told_together(explanations, by_run);
  for (std::size_t i = 0; i < selection.runs.size(); ++i) {
    if (together[i].empty()) continue;
    print(context, results.home(), selection.runs[i], explanations[i]);
    if (const auto others = others_of(by_run[i], together[i], selection.runs); !others.empty())
      context.out.field("", "same", text_cell(others));
  }
  context.out.data("runs", std::move(list));
  if (selection.runs.empty()) context.messages.info("no run is selected");
  return ExitCode::ok;
}

} // namespace

void add_explain(Commands& commands)
{
  auto selector = std::make_shared<Selector>();
  auto& verb = commands.add(
      {"explain", understand_verbs, "Explain why runs ran, were skipped, wait or failed, and what to do.",
       "A new run is compared with the most similar earlier run of its recipe.\n\nExample:\n  dtctl explain --failed"},
      [selector](Context& context) { return explain(context, *selector); });
  add_selector(verb, *selector);
}

} // namespace dt::cli
