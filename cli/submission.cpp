#include "cli/submission.hpp"

#include "cli/dry_run.hpp"
#include "cli/follow.hpp"
#include "cli/run_tables.hpp"
#include "core/file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using Action = jobs::SubmitReport::Action;
constexpr std::array actions{Action::already_done, Action::already_active, Action::submitted, Action::left_failed,
                             Action::refused,      Action::unanswered};

std::size_t count_of(const std::vector<jobs::SubmitReport>& reports, Action action)
{
  return static_cast<std::size_t>(
      std::count_if(reports.begin(), reports.end(), [&](const auto& report) { return report.action == action; }));
}

std::string words_for(Action action)
{
  std::string words(name_of(action));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

Style style_of(Action action)
{
  switch (action) {
  case Action::submitted:
    return Style::strong;
  case Action::already_done:
    return Style::good;
  case Action::refused:
    return Style::bad;
  case Action::unanswered:
    return Style::warning;
  default:
    return Style::plain;
  }
}

// The record on disk, with the time of its first submission when there was one.
void keep_record(const Home& home, StudyRecord& study)
{
  mark_pending(home, study.id);
  make_folders(home.study(study.id));
  const auto before = read_study(home.study(study.id));
  study.submitted_unix_s = now_unix_s();
  study.created_unix_s = before ? before->created_unix_s : study.submitted_unix_s;
  write_file_atomic(home.study(study.id) / "study.json", to_json(study));
}

// A study of new runs only is known already; any other is looked at run by run.
void keep_results(ResultsStore& results, const Resolved& resolved, const std::vector<jobs::SubmitReport>& reports)
{
  std::vector<store::SubmittedRun> submitted;
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (reports[i].submission && reports[i].attempt == 1) submitted.push_back({&resolved.runs[i], *reports[i].submission});
  if (submitted.size() == reports.size())
    results.take_in_submitted(resolved.study, submitted);
  else
    results.take_in(resolved.study);
}

ExitCode wait_for(Context& context, ResultsStore& results, const StudyRecord& study)
{
  Follow follow{
      .keys = study.run_keys, .names = study.run_names, .terminal = context.err_terminal, .to_stderr = true, .timeout_s = 0};
  follow_runs(context, results.home(), follow);
  const auto runs = results.up_to_date([&] { return store::runs_of_study(results.database(), study.id); });
  print_outcome(context, runs);
  return exit_code_of(runs);
}

} // namespace

void add_submission_options(CLI::App& verb, SubmissionOptions& options)
{
  verb.add_flag("-n,--dry-run", options.dry_run, "print every run, its key and whether it would be submitted; submit nothing");
  verb.add_flag("--scripts", options.scripts, "with --dry-run: every run's job script too");
  verb.add_flag("--wait", options.wait, "stay until all runs have ended; exit 1 when one did not succeed");
  verb.add_flag("--force", options.force, "submit runs again that have succeeded already");
}

std::string_view name_of(Action action)
{
  switch (action) {
  case Action::submitted:
    return "submitted";
  case Action::already_done:
    return "already_done";
  case Action::already_active:
    return "already_active";
  case Action::left_failed:
    return "left_failed";
  case Action::refused:
    return "refused";
  case Action::unanswered:
    return "unanswered";
  }
  return "refused";
}

ExitCode exit_code_of(const std::vector<jobs::SubmitReport>& reports)
{
  const auto missing = count_of(reports, Action::refused) + count_of(reports, Action::unanswered);
  if (missing == 0) return ExitCode::ok;
  return missing == reports.size() ? ExitCode::scheduler_unreachable : ExitCode::partly_submitted;
}

void print_reports(Context& context, const std::vector<jobs::SubmitReport>& reports, const std::vector<std::string>& names)
{
  Table table{"submissions",
              {{"key", "key"}, {"name", "run"}, {"action", "action"}, {"attempt", "try", Align::right, 1}, {"reason", "why"}},
              {},
              "no runs"};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto& report = reports[i];
    table.rows.push_back({key_cell(report.key),
                          text_cell(names[i]),
                          {name_of(report.action), words_for(report.action), style_of(report.action)},
                          count_cell(report.attempt),
                          text_cell(report.reason)});
  }
  context.out.table(table);

  Json counts = Json::object();
  std::vector<std::string> parts;
  for (const auto action : actions)
    if (const auto count = count_of(reports, action); count > 0) {
      counts[std::string(name_of(action))] = count;
      parts.push_back(fmt::format("{} {}", count, words_for(action)));
    }
  context.out.field(
      "counts", "in all",
      {counts, fmt::format("{} {}: {}", reports.size(), reports.size() == 1 ? "run" : "runs", join(parts, ", ")), Style::plain});
}

ExitCode submit(Context& context, Resolved resolved, const SubmissionOptions& options)
{
  const auto home = context.home();
  if (resolved.duplicates > 0)
    context.messages.info("{} points of the sweep are the same run as another one and were left out", resolved.duplicates);
  if (options.dry_run) return print_dry_run(context, home, resolved, options.scripts);

  keep_record(home, resolved.study);
  const auto reports =
      jobs::submit_runs(home, resolved.runs, {.engine = resolved.engine, .study = resolved.study.id, .force = options.force});
  context.out.field("study", "study",
                    {resolved.study.id, resolved.study.name + " (" + short_key(resolved.study.id) + ")", Style::strong});
  print_reports(context, reports, resolved.study.run_names);
  ResultsStore results(context, resolved.study.id);
  keep_results(results, resolved, reports);

  const auto code = exit_code_of(reports);
  if (!options.wait) {
    if (count_of(reports, Action::submitted) > 0) context.messages.info("follow them with: dtctl watch; then: dtctl results");
    return code;
  }
  const auto waited = wait_for(context, results, resolved.study);
  return code == ExitCode::ok ? waited : code;
}

} // namespace dt::cli
