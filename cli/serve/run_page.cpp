// The page about one run.
#include "cli/output/store_tables.hpp"
#include "cli/report/chart/charts.hpp"
#include "cli/report/html/heat_map.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/serve/pages.hpp"
#include "core/files/file.hpp"
#include "core/program/printed_text.hpp"
#include "core/record/event_record.hpp"
#include "core/record/rank_state.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/machine/quick_file.hpp"
#include "store/query/pictures/curves.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::int64_t most_points = 300;
constexpr std::size_t most_events_bytes = 4 << 20, most_log_bytes = 32 << 10;

// The end of a file, from the beginning of a line. Empty if there is no such file.
std::string end_of_file(const std::filesystem::path& path, std::size_t most_bytes)
{
  auto text = jobs::read_tail(path, most_bytes);
  return text.size() < most_bytes ? text : text.substr(std::min(text.size(), text.find('\n') + 1));
}

std::string end_of_log(const std::filesystem::path& path)
{
  return shown_text(without_secrets(std::string_view(end_of_file(path, most_log_bytes))));
}

// The course of a run that has not ended, from the file that it writes.
store::RunCurves live_course(const RunView& run, const AttemptFolder& attempt)
{
  const auto events = parse_events(end_of_file(attempt.events(), most_events_bytes));
  const auto batch = static_cast<double>(run.row.global_batch);
  store::RunCurves course{run.row.key, {}, {}, {}};
  const auto range = std::max<std::size_t>(1, (events.steps.size() + most_points - 1) / most_points);
  for (std::size_t first = 0; first < events.steps.size(); first += range) {
    const auto last = std::min(events.steps.size(), first + range);
    store::CurvePoint sum;
    double count = 0; // of the steps that have a finite loss
    for (auto i = first; i < last; ++i) {
      const auto& step = events.steps[i];
      if (!is_finite(step.loss)) continue;
      ++count;
      sum.samples += static_cast<double>(step.step) * batch;
      sum.elapsed_s += step.elapsed_s;
      sum.value += *step.loss;
    }
    if (count > 0) course.loss.push_back({sum.samples / count, sum.elapsed_s / count, sum.value / count});
  }
  for (const auto& eval : events.evals)
    if (is_finite(eval.accuracy))
      course.accuracy.push_back({static_cast<double>(eval.step) * batch, eval.elapsed_s, *eval.accuracy});
  return course;
}

Chart course_chart(const char* id, const char* title, const char* y_title, const std::vector<store::CurvePoint>& points)
{
  Chart chart{.id = id,
              .title = title,
              .caption = fmt::format("Means over up to {} ranges of steps.", most_points),
              .x = {.title = "training time [s]", .from_zero = true},
              .y = {.title = y_title},
              .series = {{.name = y_title, .mark = Mark::line, .points = {}}}};
  for (const auto& point : points) chart.series.front().points.push_back({point.elapsed_s, point.value});
  return chart;
}

void add_course(Page& page, ResultsStore& results, const RunView& run, const AttemptFolder* attempt)
{
  page.section("training", "Loss and accuracy");
  store::RunCurves course;
  if (!is_final(run.row.state) && attempt != nullptr)
    course = live_course(run, *attempt);
  else if (auto stored = store::curves_of(results.database(), {run.row.key}, most_points); !stored.empty())
    course = stored.front();
  std::vector<Charts> all(1);
  if (course.loss.empty())
    all[0].missing = "No step was recorded yet. Simulated runs record none.";
  else
    all[0].charts.push_back(course_chart("loss", "Training loss", "training loss", course.loss));
  for (auto& loss : all[0].charts) loss.y.scale = loss_scale(loss.series);
  if (!course.accuracy.empty()) {
    auto accuracy = course_chart("accuracy", "Held-out accuracy", "accuracy", course.accuracy);
    accuracy.y.is_share = accuracy.y.from_zero = true;
    accuracy.caption = "Evaluations during the training.";
    all.push_back({{std::move(accuracy)}, ""});
  }
  page.charts_side_by_side(all);
}

void add_ranks(Page& page, ResultsStore& results, const RunView& run)
{
  page.section("ranks", "Phases of the ranks");
  const auto ranks = store::phases_of_ranks(results.database(), run.row.key);
  if (ranks.empty()) return page.paragraph("The phases of the ranks are recorded when a run ends.", "missing");
  page.paragraph("Warm: longer than the median of the workers; cold: shorter.", "dim");
  page.markup(heat_map_html(ranks));
}

Table states_table(const AttemptFolder& attempt, std::int64_t ranks)
{
  Table table{"states",
              {{"rank", "rank", Align::right},
               {"host", "host"},
               {"step", "step", Align::right},
               {"what", "what"},
               {"waits_for", "waits for rank", Align::right},
               {"since_unix_s", "since"}},
              {}};
  for (int rank = 0; rank < std::min<std::int64_t>(ranks, 256); ++rank)
    if (const auto state = read_rank_state(attempt, rank))
      table.rows.push_back({count_cell(rank), text_cell(state->host), count_cell(state->step), text_cell(state->what),
                            state->peer < 0 ? text_cell("") : count_cell(state->peer), time_cell(state->since_unix_s)});
  return table;
}

void add_states(Page& page, const RunView& run, const AttemptFolder& attempt)
{
  page.section("states", "What the ranks were doing");
  if (const auto stall = read_stall(attempt)) {
    const auto end =
        std::isfinite(stall->resolved_unix_s) ? "resolved at " + format_time_local(stall->resolved_unix_s) : "not resolved";
    page.paragraph(fmt::format("A stall of {} was noticed at step {}, {}: {}.", format_duration(stall->stalled_s), stall->step,
                               end, stall->missing.empty() ? "all ranks wait for each other" : words_of(stall->missing)),
                   "doubt");
  }
  const auto table = states_table(attempt, run.row.ranks);
  if (table.rows.empty())
    return page.paragraph(
        "The ranks have not been asked. While the run goes on, this asks them: touch " + attempt.dump().string(), "missing");
  page.table(table, "states");
}

void add_logs(Page& page, const AttemptFolder& attempt)
{
  page.section("log", "End of the output");
  const auto out = end_of_log(attempt.out()), err = end_of_log(attempt.err());
  if (out.empty() && err.empty()) {
    page.paragraph("The run has printed nothing.", "missing");
    const auto submission = read_submission(attempt);
    const auto of_job = submission ? end_of_log(jobs::job_log_path(attempt, *submission)) : "";
    if (of_job.empty()) return;
    page.heading("Log of its job");
    return page.preformatted(of_job);
  }
  if (!out.empty()) page.preformatted(out);
  if (err.empty()) return;
  page.heading("Standard error");
  page.preformatted(err);
}

// All stored figures, but those that the page shows above.
void add_figures(Page& page, ResultsStore& results, const RunView& run)
{
  page.section("figures", "All figures");
  int number = 0;
  for (const auto& section : store::describe_run(results.database(), run.row.key)) {
    if (section.title == "evaluations" || section.title == "phases by rank" || section.table.rows.empty()) continue;
    page.heading(section.title);
    page.table(without_empty_columns(table_of(member_name(section.title), section.table)), "figures-" + std::to_string(++number));
  }
}

std::optional<AttemptFolder> last_attempt(const Home& home, const RunView& run)
{
  const auto numbers = attempt_numbers(home.run(run.row.key));
  return numbers.empty() ? std::nullopt : std::optional(AttemptFolder(home.run(run.row.key), numbers.back()));
}

} // namespace

ServedPage run_page(ResultsStore& results, const std::string& key)
{
  const bool is_key = key.size() == 32 && key.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_key) return error_page(404, "A run's address ends in key= and the 32 digits of its key.");
  Selector selector;
  selector.what = key;
  const auto run = select_one(results, selector);
  const auto attempt = last_attempt(results.home(), run);
  ServedPage served{.page = Page(run.row.name, "Run " + short_key(key)), .fresh_s = fresh_s_of({run})};
  auto& page = served.page;
  page.set_links(links_html());
  page.section("state", "State");
  page.table(without_empty_columns(status_table({run})), "state");
  add_course(page, results, run, attempt ? &*attempt : nullptr);
  add_ranks(page, results, run);
  if (attempt) {
    add_states(page, run, *attempt);
    add_logs(page, *attempt);
  }
  add_figures(page, results, run);
  return served;
}

} // namespace dt::cli
