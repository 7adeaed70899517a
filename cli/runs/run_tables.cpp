#include "cli/runs/run_tables.hpp"

#include "cli/output/label_columns.hpp"
#include "core/counted.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::array states{RunState::succeeded, RunState::running,   RunState::suspended, RunState::queued,
                            RunState::submitted, RunState::planned,   RunState::failed,    RunState::timed_out,
                            RunState::cancelled, RunState::preempted, RunState::lost,      RunState::unknown};

Style style_of(RunState state)
{
  switch (state) {
  case RunState::succeeded:
    return Style::good;
  case RunState::running:
    return Style::strong;
  case RunState::failed:
  case RunState::timed_out:
  case RunState::lost:
    return Style::bad;
  case RunState::suspended:
  case RunState::cancelled:
  case RunState::preempted:
  case RunState::unknown:
    return Style::warning;
  default:
    return Style::plain;
  }
}

// Whether the run is running or suspended.
bool is_begun(const RunView& run) { return run.row.state == RunState::running || run.row.state == RunState::suspended; }

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Whether the run has begun and has said how far it is.
bool has_progress(const RunView& run) { return run.live && run.live->heartbeat && is_begun(run); }

// NaN for a simulated run, because its samples in a second of real time say nothing about the simulated machine.
double samples_per_s(const RunView& run)
{
  if (!run.row.platform.empty()) return not_measured;
  return run.row.global_batch > 0 ? steps_per_s(run) * static_cast<double>(run.row.global_batch) : not_measured;
}

bool any_has(const std::vector<RunView>& runs, std::string store::RunRow::*text)
{
  return std::ranges::any_of(runs, [&](const RunView& run) { return !(run.row.*text).empty(); });
}

// Three digits: "5210", "52.1", "0.52".
std::string rate_number(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

// For programs: both rates. For people: the one that rate_text chooses.
Cell rate_cell(const RunView& run)
{
  const double steps = has_progress(run) ? steps_per_s(run) : not_measured;
  if (!std::isfinite(steps)) return {nullptr, "", Style::plain};
  return {Json{{"steps_per_s", steps}, {"samples_per_s", number_or_null(samples_per_s(run))}}, rate_text(run), Style::plain};
}

// Returns "120/400, 35s left".
Cell progress_cell(const RunView& run, double now)
{
  if (!has_progress(run)) return {nullptr, "", Style::plain};
  const auto& beat = *run.live->heartbeat;
  const double left = remaining_s(run, now);
  const double silence_s = now - beat.unix_s;
  const std::string stalled = !run.live->verdict.stalled        ? ""
                              : silence_s < jobs::stall_after_s ? ", stands still"
                                                                : ", no heartbeat for " + format_duration(silence_s);
  Json data{{"step", beat.step},
            {"steps", beat.steps > 0 ? Json(beat.steps) : Json(nullptr)},
            {"remaining_s", number_or_null(left)},
            {"stalled", run.live->verdict.stalled}};
  // A program of the user may not tell how many steps there are.
  const auto of_steps = beat.steps > 0 ? fmt::format("/{}", beat.steps) : "";
  auto text = fmt::format("{}{}{}{}", beat.step, of_steps, left == left ? ", " + format_duration(left) + " left" : "", stalled);
  return {std::move(data), std::move(text), run.live->verdict.stalled ? Style::warning : Style::plain};
}

// The cause of an end; for a queued run, what it waits for and whether it can start at all; and the number of restarts.
std::string words_for(const RunView& run)
{
  std::vector<std::string> words;
  if (!run.row.cause.empty()) words.push_back(run.row.cause);
  if (const auto reason = waiting_reason(run); !reason.empty()) words.push_back(reason);
  if (is_hindered(run)) words.push_back("it cannot start as submitted");
  if (const int count = restarts(run); count > 0) words.push_back(fmt::format("restart {}", count));
  return join(words, "; ");
}

std::size_t count_of(const std::vector<RunView>& runs, RunState state)
{
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const RunView& run) { return run.row.state == state; }));
}

} // namespace

Cell state_cell(RunState state) { return text_cell(std::string(name_of(state)), style_of(state)); }

Cell state_cell(const store::RunRow& row)
{
  auto cell = state_cell(row.state);
  return row.has_diverged() ? Cell{std::move(cell.value), "diverged", Style::warning} : cell;
}

Cell key_cell(const std::string& key) { return {key, short_key(key), Style::plain}; }

std::string waiting_reason(const RunView& run)
{
  const bool waits =
      run.row.state == RunState::queued || run.row.state == RunState::submitted || run.row.state == RunState::suspended;
  return waits && run.live ? run.live->job.reason : "";
}

bool is_hindered(const RunView& run)
{
  return run.row.state == RunState::queued && run.live && !run.live->job.hindrance.remedy.empty();
}

std::string cluster_job(const store::RunRow& row)
{
  return row.job_id.find_first_not_of("0123456789_") == std::string::npos ? row.job_id : "";
}

int restarts(const RunView& run)
{
  if (!run.live) return 0;
  return std::max(run.live->job.restarts, run.live->submission ? run.live->submission->restart : 0);
}

Cell short_note_cell(const std::string& note)
{
  constexpr std::size_t longest = 48;
  auto line = printable(note.substr(0, note.find('\n')));
  if (line.size() > longest) {
    line.resize(longest);
    while (!is_valid_utf8(line)) line.pop_back();
  }
  return {note, line == note ? line : line + "…", Style::plain};
}

Table status_table(const std::vector<RunView>& runs)
{
  const bool has_jobs = std::any_of(runs.begin(), runs.end(), [](const RunView& run) { return !cluster_job(run.row).empty(); });
  Table table{"runs",
              {{"key", "key"},
               {"name", "run"},
               {"job_id", has_jobs ? "job" : "", Align::left, 2},
               {"state", "state"},
               {"attempt", "try", Align::right, 2},
               {"progress", "step", Align::left, 1},
               {"rate", "speed", Align::right, 3},
               {"cause", "cause"},
               {"tags", any_has(runs, &store::RunRow::tags) ? "tags" : "", Align::left, 4},
               {"note", any_has(runs, &store::RunRow::note) ? "note" : "", Align::left, 5},
               {"cause_kind", ""},
               {"waits_for", ""},
               {"remedy", ""},
               {"restarts", ""},
               {"diverged_step", ""}},
              {},
              "no runs"};
  const double now = now_unix_s();
  for (const auto& run : runs)
    table.rows.push_back({key_cell(run.row.key), text_cell(run.row.name), text_cell(run.row.job_id), state_cell(run.row),
                          count_cell(run.row.attempt), progress_cell(run, now), rate_cell(run),
                          Cell{run.row.cause, words_for(run), Style::plain}, text_cell(run.row.tags),
                          short_note_cell(run.row.note), text_cell(run.row.cause_kind), text_cell(waiting_reason(run)),
                          text_cell(is_hindered(run) ? run.live->job.hindrance.remedy : ""), count_cell(restarts(run)),
                          real_cell(run.row.figure("diverged_step"))});
  return table;
}

namespace {

// Shows "missed" for a finished run that did not reach its target.
Cell target_cell(const store::RunRow& row)
{
  if (row.has_diverged() && row.target_accuracy > 0) return {nullptr, "diverged", Style::warning};
  auto cell = seconds_cell(row.figure("time_to_accuracy_s"));
  const bool missed = row.state == RunState::succeeded && row.target_accuracy > 0 && row.knows_target() && cell.value.is_null();
  return missed ? Cell{nullptr, "missed", Style::warning} : cell;
}

bool has_servers(const std::vector<RunView>& runs)
{
  return std::any_of(runs.begin(), runs.end(), [](const RunView& run) { return run.row.workers != run.row.ranks; });
}

using RunColumn = TableColumn<store::RunRow>;

// A figure of the run's result (core/record/fields.cpp). The column has the figure's name.
RunColumn figure_column(std::string name, std::string title, std::function<Cell(double)> cell, int drop = 0)
{
  const auto figure = [name, cell](const store::RunRow& row) {
    const auto word = row.word(name);
    return word.empty() ? cell(row.figure(name)) : text_cell(word, Style::warning);
  };
  std::replace(name.begin(), name.end(), '.', '_'); // as the database's column
  return {{std::move(name), std::move(title), Align::right, drop}, figure};
}

Cell real(double value) { return real_cell(value); }

// "#3", or "control #1".
std::string repeat_in(const std::string& name)
{
  const auto slash = name.rfind('/');
  return slash == name.npos || name.find('#', slash) == name.npos ? "" : name.substr(slash + 1);
}

// The run's name; where labels differ, a column for each key and the repeat.
std::vector<RunColumn> name_columns(const store::PointLabels& labels)
{
  const bool has_labels = !labels.keys().empty();
  std::vector<RunColumn> columns{
      {{"name", has_labels ? "" : "run"}, [](const store::RunRow& row) { return text_cell(row.name); }}};
  if (!has_labels) return columns;
  columns = before(columns, label_columns<store::RunRow>(labels, "", [](const auto& row) { return row.series; }));
  columns.push_back({{"", "repeat"}, [](const store::RunRow& row) { return text_cell(repeat_in(row.name)); }});
  return columns;
}

std::vector<RunColumn> measurement_columns(const std::vector<RunView>& runs)
{
  using Row = store::RunRow;
  return {
      {{"state", "state"}, [](const Row& row) { return state_cell(row); }},
      {{"nodes", "nodes", Align::right, 4}, [](const Row& row) { return count_cell(row.nodes); }},
      {{"ranks", "ranks", Align::right}, [](const Row& row) { return count_cell(row.ranks); }},
      {{"workers", has_servers(runs) ? "workers" : "", Align::right}, [](const Row& row) { return count_cell(row.workers); }},
      figure_column("throughput", "samples/s", real),
      figure_column("communication_share", "comm.", percent_cell, 1),
      figure_column("energy.joules_per_sample", "J/sample", real, 2),
      figure_column("mfu", "MFU", mfu_cell, 5),
      figure_column("accuracy", "accuracy", percent_cell),
      {{"time_to_accuracy_s", "to target", Align::right, 2}, target_cell},
      {{"target_accuracy", ""},
       [](const Row& row) { return percent_cell(row.target_accuracy > 0 ? row.target_accuracy : not_measured); }},
      figure_column("final_loss", "loss", real, 3),
      figure_column("wall_s", "wall", seconds_cell, 3),
      figure_column("diverged_step", "", real),
      {{"tags", any_has(runs, &Row::tags) ? "tags" : "", Align::left, 6}, [](const Row& row) { return text_cell(row.tags); }},
      {{"note", any_has(runs, &Row::note) ? "note" : "", Align::left, 7},
       [](const Row& row) { return short_note_cell(row.note); }},
  };
}

} // namespace

Table measurement_table(const std::vector<RunView>& runs, const store::PointLabels& labels)
{
  const std::vector<RunColumn> key{{{"key", "key"}, [](const store::RunRow& row) { return key_cell(row.key); }}};
  const auto columns = before(before(key, name_columns(labels)), measurement_columns(runs));
  return table_of(
      "runs", columns, runs, [](const RunView& run) -> const auto& { return run.row; }, "no runs");
}

Json state_counts(const std::vector<RunView>& runs)
{
  Json counts = Json::object();
  for (const auto state : states)
    if (const auto count = count_of(runs, state); count > 0) counts[std::string(name_of(state))] = count;
  return counts;
}

std::string states_text(const std::vector<RunView>& runs)
{
  const auto diverged = std::count_if(runs.begin(), runs.end(), [](const RunView& run) { return run.row.has_diverged(); });
  std::vector<std::string> parts;
  for (const auto state : states)
    if (const auto count = count_of(runs, state); count > 0) {
      auto& part = parts.emplace_back(fmt::format("{} {}", count, name_of(state)));
      if (state == RunState::succeeded && diverged > 0) part += fmt::format(" ({} diverged)", diverged);
    }
  return join(parts, ", ");
}

std::string summary(const std::vector<RunView>& runs)
{
  const auto text = states_text(runs);
  return counted(runs.size(), "run") + (text.empty() ? "" : ": ") + text;
}

double fraction_done(const RunView& run)
{
  if (!run.live || !run.live->heartbeat || run.live->heartbeat->steps <= 0) return not_measured;
  return static_cast<double>(run.live->heartbeat->step) / static_cast<double>(run.live->heartbeat->steps);
}

double steps_per_s(const RunView& run)
{
  if (std::isfinite(run.steps_per_s)) return run.steps_per_s;
  if (!run.live || !run.live->heartbeat || !run.live->begin) return not_measured;
  const auto& beat = *run.live->heartbeat;
  // The steps of earlier attempts took no time of this attempt.
  const auto own_steps = static_cast<double>(beat.step - run.resumed_step);
  const double active_s = beat.unix_s - run.live->begin->unix_s - run.live->job.suspended_s;
  return own_steps > 0 && active_s > 0 ? own_steps / active_s : not_measured;
}

std::string rate_text(const RunView& run)
{
  const double samples = samples_per_s(run), steps = steps_per_s(run);
  if (std::isfinite(samples)) return rate_number(samples) + " samples/s";
  return std::isfinite(steps) ? rate_number(steps) + " steps/s" : "";
}

std::string progress_text(const RunView& run, double now_unix_s)
{
  if (!has_progress(run)) return "";
  const auto& beat = *run.live->heartbeat;
  std::vector<std::string> words{fmt::format("step {}", beat.step) + (beat.steps > 0 ? fmt::format(" of {}", beat.steps) : "")};
  if (auto rate = rate_text(run); !rate.empty()) words.push_back(std::move(rate));
  if (const double left = remaining_s(run, now_unix_s); std::isfinite(left)) words.push_back(format_duration(left) + " left");
  return join(words, ", ");
}

double remaining_s(const RunView& run, double now_unix_s)
{
  const double rate = steps_per_s(run);
  if (!run.live || !run.live->heartbeat || run.live->heartbeat->steps <= 0 || !(rate > 0)) return not_measured;
  const auto& beat = *run.live->heartbeat;
  const double left_s = static_cast<double>(beat.steps - beat.step) / rate;
  return run.live->job.is_suspended ? left_s : std::max(0.0, beat.unix_s + left_s - now_unix_s);
}

ExitCode exit_code_of(const std::vector<RunView>& runs)
{
  const bool bad = std::any_of(runs.begin(), runs.end(), [](const RunView& run) {
    return run.row.state == RunState::planned || (is_final(run.row.state) && run.row.state != RunState::succeeded);
  });
  return bad ? ExitCode::runs_failed : ExitCode::ok;
}

} // namespace dt::cli
