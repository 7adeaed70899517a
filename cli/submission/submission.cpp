#include "cli/submission/submission.hpp"

#include "cli/checks/home_on_nodes.hpp"
#include "cli/command/validators.hpp"
#include "cli/follow/follow.hpp"
#include "cli/follow/notify.hpp"
#include "cli/planning/source_state.hpp"
#include "cli/runs/checkpoints.hpp"
#include "cli/runs/removal.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/submission/dry_run.hpp"
#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/record/baselines.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using SubmitAction = jobs::SubmitReport::Action;
constexpr std::array actions{SubmitAction::already_done, SubmitAction::already_active, SubmitAction::submitted,
                             SubmitAction::left_failed,  SubmitAction::deferred,       SubmitAction::refused,
                             SubmitAction::unanswered};

std::size_t count_of(const std::vector<jobs::SubmitReport>& reports, SubmitAction action)
{
  return static_cast<std::size_t>(
      std::count_if(reports.begin(), reports.end(), [&](const auto& report) { return report.action == action; }));
}

std::string words_for(SubmitAction action)
{
  std::string words(name_of(action));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

Style style_of(SubmitAction action)
{
  switch (action) {
  case SubmitAction::submitted:
    return Style::strong;
  case SubmitAction::already_done:
    return Style::good;
  case SubmitAction::refused:
    return Style::bad;
  case SubmitAction::unanswered:
  case SubmitAction::deferred:
    return Style::warning;
  default:
    return Style::plain;
  }
}

// Appends the words to the scheduler_args of the recipe. Throws a recipe error if the scheduler cannot use them.
void add_scheduler_args(Resolved& resolved, const std::vector<std::string>& words)
{
  for (auto& run : resolved.runs) {
    auto& resources = run.spec.resources;
    if (!words.empty() && !scheduler_row(resources.scheduler).takes_arguments)
      throw Error(ErrorKind::usage,
                  fmt::format("the arguments \"{}\" after -- are for a cluster's scheduler, but {} runs on this machine; leave "
                              "them out, or choose a profile with resources.scheduler: slurm",
                              printable(join(words, " ")), resolved.study.name));
    jobs::scheduler_kind(resources.scheduler).check_args(words);
    resources.scheduler_args.insert(resources.scheduler_args.end(), words.begin(), words.end());
  }
}

// The runs that must come first. Throws a usage error if one of them is in this submission, has failed or was never submitted.
jobs::Predecessors predecessors(Context& context, const LockedHome& home, const Resolved& resolved, const std::string& selector)
{
  if (selector.empty()) return {};
  ResultsStore results(context, home);
  auto keys = keys_of(select(results, {.what = selector, .failed = false, .where = {}}).runs);
  for (const auto& run : resolved.runs)
    if (std::find(keys.begin(), keys.end(), run.key) != keys.end())
      throw Error(ErrorKind::usage, fmt::format("run {} is in {} too, and a run cannot wait for itself; nothing was submitted",
                                                short_key(run.key), printable(selector)));
  if (keys.empty()) throw Error(ErrorKind::usage, "--after " + selector + " matches no run; nothing was submitted");
  return jobs::find_predecessors(home, keys);
}

void write_record(const LockedHome& home, const StudyRecord& study)
{
  write_file_atomic(home.study(study.id) / "study.json", to_json(study));
}

// Writes the study's record. Keeps the time of its first submission. Returns the record that it replaces.
std::optional<StudyRecord> keep_record(const LockedHome& home, StudyRecord& study)
{
  Removal::prepare(home);
  mark_pending(home, study.id);
  make_folders(home.study(study.id));
  auto before = read_study(home.study(study.id));
  study.submitted_unix_s = now_unix_s();
  study.created_unix_s = before ? before->created_unix_s : study.submitted_unix_s;
  write_record(home, study);
  return before;
}

// Puts back what keep_record() replaced, unless an attempt of this submission is there.
void put_record_back(const LockedHome& home, const StudyRecord& study, const std::optional<StudyRecord>& before)
{
  for (const auto& key : study.run_keys)
    for (const auto number : attempt_numbers(home.run(key))) {
      const auto submission = read_submission(AttemptFolder(home.run(key), number));
      if (submission && submission->study == study.id && submission->submitted_unix_s >= study.submitted_unix_s) return;
    }
  if (before) return write_record(home, *before);
  std::error_code ignored; // then a study without attempts stays
  std::filesystem::remove_all(home.study(study.id), ignored);
}

// If all runs are new, their state is known. Otherwise every run is examined that is not stored as succeeded.
void keep_results(ResultsStore& results, const Resolved& resolved, const std::vector<jobs::SubmitReport>& reports)
{
  std::vector<store::SubmittedRun> submitted;
  std::set<std::string> done;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].submission && reports[i].attempt == 1) submitted.push_back({&resolved.runs[i], *reports[i].submission});
    if (reports[i].action == SubmitAction::already_done) done.insert(reports[i].key);
  }
  if (submitted.size() == reports.size())
    results.take_in_submitted(resolved.study, submitted);
  else
    results.take_in(resolved.study, done);
}

// New files are readable by the user only, whatever the mode of the home.
void warn_of_open_home(Context& context, const Home& home, const Resolved& resolved)
{
  const bool has_variables = std::any_of(resolved.runs.begin(), resolved.runs.end(),
                                         [](const PlannedRun& run) { return !run.spec.resources.env.empty(); });
  const auto mode = open_mode(home.root());
  if (has_variables && mode)
    context.messages.warn(
        "{} is open to other users (mode {}), and it stores the values of resources.env; close it: chmod -R go-rwx {}",
        home.root().string(), *mode, shell_quote(home.root().string()));
}

// Warns before the first jobs of a home whose nodes may not see it.
void warn_of_home_on_nodes(Context& context, const Home& home, const Resolved& resolved)
{
  const auto is_elsewhere = [](const PlannedRun& run) { return !scheduler_row(run.spec.resources.scheduler).uses_this_machine; };
  if (std::none_of(resolved.runs.begin(), resolved.runs.end(), is_elsewhere)) return;
  if (const auto doubt = doubt_of_home_on_nodes(home)) context.messages.warn("{}", *doubt);
}

void follow_study(Context& context, const Home& home, const StudyRecord& study, const SubmissionOptions& options,
                  std::vector<FinishedRun> earlier = {})
{
  Follow follow{.keys = study.run_keys,
                .names = study.run_names,
                .terminal = context.err_terminal,
                .to_stderr = true,
                .timeout_s = 0,
                .earlier = std::move(earlier),
                .most_runs = options.max_jobs,
                .patience_s = patience_s(options.patience),
                .far_behind = options.far_behind};
  follow_runs(context, home, follow);
}

// The runs of a study that was followed to its end. Throws an environment error if it was removed meanwhile.
std::vector<RunView> ended_runs(ResultsStore& results, const StudyRecord& study)
{
  auto runs = results.up_to_date([&] { return store::runs_of_study(results.database(), study.id); });
  if (runs.empty() && !study.run_keys.empty())
    throw Error(ErrorKind::environment,
                fmt::format("the study {} was removed by another dtctl meanwhile; to run it again, submit "
                            "its recipe again",
                            printable(study.name)));
  return runs;
}

ExitCode wait_for(Context& context, ResultsStore& results, const StudyRecord& study, const SubmissionOptions& options)
{
  follow_study(context, results.home(), study, options);
  const auto runs = ended_runs(results, study);
  print_outcome(context, runs);
  const auto code = exit_code_of(runs);
  notify(context, options.notify, {study.name, study.id}, runs, code);
  return code;
}

void tell_deferred(Context& context, const std::vector<jobs::SubmitReport>& reports)
{
  const auto deferred = count_of(reports, SubmitAction::deferred);
  if (deferred > 0)
    context.messages.info("{} for room in the scheduler's queue; dtctl status and watch submit them as soon as there is room",
                          counted(deferred, "run waits", "runs wait"));
}

} // namespace

void add_submission_options(Verb& verb, SubmissionOptions& options)
{
  verb.add_flag("-n,--dry-run", options.dry_run, "print every run, its key and whether it would be submitted; submit nothing");
  verb.add_flag("--scripts", options.scripts, "with --dry-run: also print the job script of every run");
  verb.add_flag("--wait", options.wait, "wait until all runs have ended; exit 1 if one did not succeed");
  verb.add_flag("--force", options.force, "also submit runs that have already succeeded");
  verb.add_flag("--keep-going", options.keep_going,
                "start every run, even if the first 3 fail before their first step in the same way");
  add_patience_option(verb, options.patience);
  add_notify_option(verb, options.notify);
  add_max_jobs_option(verb, options.max_jobs);
  verb.add_option("--after", options.after, "start only after these runs have succeeded; refused if one has failed")
      ->type_name("SELECTOR");
}

void add_max_jobs_option(Verb& verb, std::int64_t& max_jobs)
{
  verb.add_option("--max-jobs", max_jobs, "run at most N of these jobs at the same time; default: no limit")
      ->type_name("N")
      ->check(positive_number());
}

std::string_view name_of(SubmitAction action)
{
  switch (action) {
  case SubmitAction::submitted:
    return "submitted";
  case SubmitAction::already_done:
    return "already_done";
  case SubmitAction::already_active:
    return "already_active";
  case SubmitAction::left_failed:
    return "left_failed";
  case SubmitAction::refused:
    return "refused";
  case SubmitAction::unanswered:
    return "unanswered";
  case SubmitAction::deferred:
    return "deferred";
  }
  return "refused";
}

void tell_checkpoints(const Home& home, std::vector<jobs::SubmitReport>& reports)
{
  for (auto& report : reports) {
    if (report.action != SubmitAction::submitted || report.attempt < 2) continue;
    if (const auto step = last_checkpoint(home.run(report.key), report.attempt - 1); step > 0)
      report.reason += fmt::format("; continues from step {}", step);
  }
}

ExitCode exit_code_of(const std::vector<jobs::SubmitReport>& reports)
{
  const auto missing = count_of(reports, SubmitAction::refused) + count_of(reports, SubmitAction::unanswered);
  if (missing == 0) return count_of(reports, SubmitAction::deferred) > 0 ? ExitCode::partly_submitted : ExitCode::ok;
  if (count_of(reports, SubmitAction::submitted) > 0) return ExitCode::partly_submitted;
  const bool unreadable = std::any_of(reports.begin(), reports.end(), [](const auto& report) { return report.unreadable; });
  return unreadable ? ExitCode::environment : ExitCode::scheduler_unreachable;
}

void print_refusals(Context& context, const std::vector<std::string>& reasons)
{
  print_reasons(context, "refusals", "refused", reasons);
}

void print_reasons(Context& context, const std::string& name, const std::string& label, const std::vector<std::string>& reasons)
{
  std::vector<std::pair<std::string, std::int64_t>> distinct; // in the order of their first appearance
  for (const auto& reason : reasons) {
    if (reason.empty()) continue;
    const auto known = std::find_if(distinct.begin(), distinct.end(), [&](const auto& one) { return one.first == reason; });
    known == distinct.end() ? distinct.emplace_back(reason, 1) : * known = {reason, known->second + 1};
  }
  Json list = Json::array();
  for (const auto& [reason, count] : distinct) {
    list.push_back({{"reason", reason}, {"runs", count}});
    context.out.field("", label, text_cell(counted(count, "run") + ": " + reason, Style::bad));
  }
  context.out.data(name, std::move(list));
}

void print_reports(Context& context, const std::vector<jobs::SubmitReport>& reports, const std::vector<std::string>& names)
{
  Table table{"submissions",
              {{"key", "key"}, {"name", "run"}, {"action", "action"}, {"attempt", "try", Align::right, 1}, {"reason", "why"}},
              {},
              "no runs"};
  std::vector<std::string> refusals;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto& report = reports[i];
    const bool is_refused = report.action == SubmitAction::refused;
    if (is_refused) refusals.push_back(report.reason);
    table.rows.push_back({key_cell(report.key),
                          text_cell(names[i]),
                          {name_of(report.action), words_for(report.action), style_of(report.action)},
                          count_cell(report.attempt),
                          {report.reason, is_refused ? "" : report.reason, Style::plain}});
  }
  context.out.table(table);
  print_refusals(context, refusals);

  Json counts = Json::object();
  std::vector<std::string> parts;
  for (const auto action : actions)
    if (const auto count = count_of(reports, action); count > 0) {
      counts[std::string(name_of(action))] = count;
      parts.push_back(fmt::format("{} {}", count, words_for(action)));
    }
  context.out.field("counts", "in all", {counts, counted(reports.size(), "run") + ": " + join(parts, ", "), Style::plain});
}

namespace {

// If no run exists yet and all would be refused, returns the reports; otherwise nothing.
std::optional<std::vector<jobs::SubmitReport>> wholly_refused(const Home& home, const Resolved& resolved)
{
  const auto refusals = jobs::known_refusals(resolved.runs);
  std::vector<jobs::SubmitReport> reports;
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    if (refusals[i].empty() || is_there(home.run(resolved.runs[i].key))) return std::nullopt;
    reports.push_back({.key = resolved.runs[i].key, .action = SubmitAction::refused, .reason = refusals[i]});
  }
  return reports;
}

// Stores the reasons of refusals, so that `explain` can show them later.
void keep_refusals(const LockedHome& home, StudyRecord& study, const std::vector<jobs::SubmitReport>& reports)
{
  for (const auto& report : reports)
    if (report.action == SubmitAction::refused) study.refusals[report.key] = report.reason;
  if (!study.refusals.empty()) write_record(home, study);
}

} // namespace

namespace {

// The keys of the runs were made before the home was locked. Throws a usage error if a data set was removed since.
void require_data(const LockedHome& home, const Resolved& resolved)
{
  std::set<std::filesystem::path> places;
  for (const auto& run : resolved.runs)
    if (run.data_id != "none" && !run.spec.is_simulated() && run.spec.data.name != "synthetic")
      places.insert(home.data_place(run.spec.data));
  for (const auto& place : places)
    if (!is_there(place))
      throw Error(ErrorKind::usage, fmt::format("another dtctl removed the data set {} after this command had read it; nothing "
                                                "was submitted. Make or import it again, then "
                                                "submit again",
                                                place.string()));
}

// Whether an attempt of the run has a result, which a further attempt would replace.
bool has_result(const Home& home, const std::string& key)
{
  const auto folder = home.run(key);
  return std::ranges::any_of(attempt_numbers(folder),
                             [&](int number) { return is_there(AttemptFolder(folder, number).result()); });
}

// "mine (1a2b3c4d5e), other (…)": the studies whose figures a forced submission of these runs replaces, with their ids.
std::map<std::string, std::string> replaced_studies(const Home& home, const Resolved& resolved)
{
  std::set<std::string> replaced;
  for (const auto& run : resolved.runs)
    if (has_result(home, run.key)) replaced.insert(run.key);
  std::map<std::string, std::string> studies;
  for (const auto& id : names_in(home.studies())) {
    const auto study = replaced.empty() ? std::nullopt : read_study(home.study(id));
    if (study && std::ranges::any_of(study->run_keys, [&](const auto& key) { return replaced.contains(key); }))
      studies.emplace(id, fmt::format("{} ({})", printable(study->name), short_key(id)));
  }
  return studies;
}

// Says whose figures --force replaces. Throws a usage error if a baseline is among them.
void check_force(Context& context, const Home& home, const Resolved& resolved)
{
  const auto studies = replaced_studies(home, resolved);
  for (const auto& [name, baseline] : read_baselines(home))
    if (const auto found = studies.find(baseline.study); found != studies.end())
      throw Error(
          ErrorKind::usage,
          fmt::format("--force would replace the figures of {}, which is the baseline {}. Nothing was submitted. For more "
                      "runs beside them: --set study.repeats=N. To give the baseline up: dtctl note --forget-baseline {}",
                      found->second, name, name));
  std::vector<std::string> names;
  for (const auto& [id, name] : studies) names.push_back(name);
  if (names.empty()) return;
  context.messages.warn("--force replaces the figures of runs in {}: {}", counted(names.size(), "study", "studies"),
                        join(names, ", "));
}

// The programs of the user that have different files.
std::vector<ProgramSpec> programs_of(const std::vector<PlannedRun>& runs)
{
  std::map<std::vector<std::string>, ProgramSpec> programs;
  for (const auto& run : runs) programs.try_emplace(run.spec.program.files, run.spec.program);
  std::vector<ProgramSpec> found;
  for (auto& [files, program] : programs) found.push_back(std::move(program));
  return found;
}

// Writes the study's record and submits missing and failed runs.
std::vector<jobs::SubmitReport> hand_over_runs(Context& context, const LockedHome& home, Resolved& resolved,
                                               const SubmissionOptions& options)
{
  require_data(home, resolved);
  if (options.force) check_force(context, home, resolved);
  const auto folder = std::filesystem::path(resolved.study.recipe_path).parent_path();
  const jobs::SubmitOptions how{.engine = resolved.engine,
                                .study = resolved.study.id,
                                .force = options.force,
                                .rules = {.max_running = options.max_jobs},
                                .after = predecessors(context, home, resolved, options.after),
                                .agent = agent_program().string(),
                                .simulator = resolved.simulator,
                                .git_state = source_state(folder, home.sources(), programs_of(resolved.runs))};
  warn_of_open_home(context, home, resolved);
  warn_of_home_on_nodes(context, home, resolved);
  resolved.study.keep_going = options.keep_going;
  const auto before = keep_record(home, resolved.study);
  std::vector<jobs::SubmitReport> reports;
  try {
    reports = jobs::submit_runs(home, resolved.runs, how);
  } catch (const Error&) {
    put_record_back(home, resolved.study, before);
    throw;
  }
  tell_checkpoints(home, reports);
  std::set<std::string> cautions;
  for (const auto& report : reports)
    if (!report.caution.empty() && cautions.insert(report.caution).second) context.messages.warn("{}", report.caution);
  keep_refusals(home, resolved.study, reports);
  return reports;
}

std::vector<std::string> refusals_of(const std::vector<jobs::SubmitReport>& reports)
{
  std::vector<std::string> reasons;
  for (const auto& report : reports)
    if (report.action == SubmitAction::refused) reasons.push_back(report.reason);
  return reasons;
}

// Follows the runs that had not ended before the submission.
void follow_unfinished(Context& context, const Home& home, const StudyRecord& study,
                       const std::vector<jobs::SubmitReport>& reports, const SubmissionOptions& options)
{
  auto unfinished = study;
  unfinished.run_keys.clear();
  unfinished.run_names.clear();
  std::vector<FinishedRun> earlier;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].action == SubmitAction::already_done) earlier.push_back({reports[i].key, reports[i].attempt});
    if (reports[i].action == SubmitAction::already_done || reports[i].action == SubmitAction::left_failed) continue;
    unfinished.run_keys.push_back(study.run_keys[i]);
    unfinished.run_names.push_back(study.run_names[i]);
  }
  if (!unfinished.run_keys.empty()) follow_study(context, home, unfinished, options, std::move(earlier));
}

bool has_all(const std::vector<jobs::SubmitReport>& reports)
{
  return count_of(reports, SubmitAction::refused) + count_of(reports, SubmitAction::unanswered) == 0;
}

} // namespace

ExitCode submit_and_wait(Context& context, ResultsStore& results, Resolved& resolved, const SubmissionOptions& options)
{
  patience_s(options.patience); // throws if it is no duration, before anything is submitted
  add_scheduler_args(resolved, options.scheduler_args);
  std::vector<jobs::SubmitReport> reports;
  {
    const auto home = context.made_home();
    reports = hand_over_runs(context, home, resolved, options);
    results.keep(home);
    keep_results(results, resolved, reports);
  }
  if (!has_all(reports)) {
    print_refusals(context, refusals_of(reports));
    return exit_code_of(reports);
  }
  follow_unfinished(context, results.home(), resolved.study, reports, options);
  return exit_code_of(ended_runs(results, resolved.study));
}

void tell_unasked(Context& context, const Resolved& resolved)
{
  if (resolved.unasked.empty()) return;
  context.messages.info("The Python environment is no part of the runs' keys, because it is not known before they run: {}. Each "
                        "run records its own. To say that this is intended: program.identity: files",
                        resolved.unasked);
}

ExitCode submit(Context& context, Resolved resolved, const SubmissionOptions& options)
{
  patience_s(options.patience); // throws if it is no duration, before anything is submitted
  add_scheduler_args(resolved, options.scheduler_args);
  if (resolved.duplicates > 0)
    context.messages.info("{} of the sweep left out, because another point is the same run",
                          counted(resolved.duplicates, "point"));
  tell_unasked(context, resolved);
  if (options.dry_run) return print_dry_run(context, context.home(), resolved, options.scripts);

  std::optional locked(context.made_home());
  if (const auto reports = wholly_refused(*locked, resolved)) {
    print_reports(context, *reports, resolved.study.run_names);
    context.messages.warn("nothing was submitted, and no study was created");
    return exit_code_of(*reports);
  }
  const auto reports = hand_over_runs(context, *locked, resolved, options);
  context.out.field("study", "study",
                    {resolved.study.id, resolved.study.name + " (" + short_key(resolved.study.id) + ")", Style::strong});
  print_reports(context, reports, resolved.study.run_names);
  ResultsStore results(context, *locked, resolved.study.id);
  keep_results(results, resolved, reports);
  locked.reset();

  const auto code = exit_code_of(reports);
  if (!options.wait) {
    tell_deferred(context, reports);
    if (count_of(reports, SubmitAction::submitted) > 0)
      context.messages.info("Follow the runs with: dtctl status --follow. Then: dtctl results.");
    return code;
  }
  const auto waited = wait_for(context, results, resolved.study, options);
  // Deferred runs were submitted while waiting.
  return has_all(reports) ? waited : code;
}

} // namespace dt::cli
