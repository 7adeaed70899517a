// Charts of loss and accuracy during the training.
#include "cli/report/chart/charts.hpp"
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "store/query/pictures/curves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::int64_t most_points = 150; // of a curve
constexpr std::size_t most_repeats = 10;

using Curve = std::vector<store::CurvePoint>;

enum class Over { time, samples };

double x_of(const store::CurvePoint& point, Over over) { return over == Over::time ? point.elapsed_s : point.samples; }

// One chart of curves: its names, its x axis, and the figures that it draws.
struct Shown {
  std::string id, title, y_title;
  Over over = Over::time;
  Curve store::RunCurves::*curve = nullptr;
  bool is_share = false;
};

// The value of a curve at x, between its first and its last point.
double value_at(const Curve& curve, Over over, double x)
{
  const auto after = std::find_if(curve.begin(), curve.end(), [&](const auto& point) { return x_of(point, over) >= x; });
  if (after == curve.end()) return curve.back().value;
  if (after == curve.begin()) return after->value;
  const auto before = after - 1;
  const double width = x_of(*after, over) - x_of(*before, over);
  const double part = width > 0 ? (x - x_of(*before, over)) / width : 1;
  return before->value + part * (after->value - before->value);
}

// Mean, smallest and largest value of the repeats at the points of the first one, as far as all of them went.
std::vector<ChartPoint> spread_of(const std::vector<const Curve*>& curves, Over over)
{
  double first = -INFINITY, last = INFINITY;
  for (const auto* curve : curves) {
    first = std::max(first, x_of(curve->front(), over));
    last = std::min(last, x_of(curve->back(), over));
  }
  std::vector<ChartPoint> points;
  for (const auto& point : *curves.front()) {
    const double x = x_of(point, over);
    if (x < first || x > last) continue;
    std::vector<double> values;
    for (const auto* curve : curves) values.push_back(value_at(*curve, over, x));
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double lowest = *low, highest = *high;
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    ChartPoint shown{x, mean, not_measured, not_measured,
                     runs_text(static_cast<std::int64_t>(curves.size()), static_cast<std::int64_t>(curves.size()))};
    if (curves.size() > 1) shown.low = lowest, shown.high = highest;
    points.push_back(std::move(shown));
  }
  return points;
}

// A run that failed or diverged would cut the curves of its repeats where it ended.
bool has_curve(const store::Run& run) { return run.has_trained() && !run.is_control; }

std::string diverged_note(const ChartSource& source)
{
  const auto count = std::count_if(source.runs.begin(), source.runs.end(), [](const auto& run) { return run.has_diverged(); });
  return count == 0 ? "" : fmt::format(" Without {} that diverged.", runs_text(count, count));
}

// The runs of the label's largest size that has succeeded ones.
std::vector<std::string> largest_runs(const ChartSource& source, const std::string& label)
{
  const store::ComparedPoint* largest = nullptr;
  for (const auto& point : source.compared)
    if (point.candidate == label && std::any_of(point.runs.begin(), point.runs.end(), has_curve)) largest = &point;
  std::vector<std::string> keys;
  if (largest != nullptr)
    for (const auto& run : largest->runs)
      if (has_curve(run) && keys.size() < most_repeats) keys.push_back(run.key);
  return keys;
}

struct LabelCurve {
  Series series;
  bool is_apart = false; // the repeats have curves, but no range in common
};

LabelCurve curve_of(const ChartSource& source, const std::string& label, int colour, const Shown& shown)
{
  Series series{.name = legend_name(source, label),
                .mark = Mark::band,
                .origin = is_simulated(source, label) ? Origin::simulated : Origin::measured,
                .points = {},
                .colour = colour,
                .label = label};
  const auto courses = store::curves_of(source.database, largest_runs(source, label), most_points);
  std::vector<const Curve*> curves;
  for (const auto& course : courses) {
    const auto& curve = course.*shown.curve;
    if (!curve.empty() && (shown.over == Over::time || curve.back().samples > 0)) curves.push_back(&curve);
  }
  if (!curves.empty()) series.points = spread_of(curves, shown.over);
  const bool is_apart = !curves.empty() && series.points.empty();
  return {std::move(series), is_apart};
}

} // namespace

AxisScale loss_scale(const std::vector<Series>& all)
{
  double low = INFINITY, high = 0;
  for (const auto& series : all)
    for (const auto& point : series.points) {
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  return low > 0 && high / low > 20 ? AxisScale::log10 : AxisScale::linear;
}

namespace {

Charts course_chart(const ChartSource& source, const Shown& shown)
{
  Chart chart{.id = shown.id,
              .title = shown.title,
              .caption = "The largest size of each label. Line: mean of the repeats. Band: from the smallest to the largest "
                         "repeat, and ends where the shortest repeat ends." +
                         drawn_note(source) + diverged_note(source),
              .x = {.title = shown.over == Over::time ? "training time [s]" : "samples", .from_zero = true},
              .y = {.title = shown.y_title, .is_share = shown.is_share, .from_zero = shown.is_share}};
  int colour = 0;
  std::vector<std::string> apart;
  for (const auto& label : source.labels) {
    auto [series, is_apart] = curve_of(source, label, colour++, shown);
    if (is_apart) apart.push_back(series.name);
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return {};
  if (!apart.empty())
    chart.caption += " Not drawn, because some repeats had ended before others had their first value: " + join(apart, ", ") +
                     ". With more frequent evaluations they are drawn.";
  if (!shown.is_share) chart.y.scale = loss_scale(chart.series);
  return {{std::move(chart)}, ""};
}

bool is_own_program(const ChartSource& source)
{
  if (source.runs.empty()) return false;
  const auto folder = source.home.run(source.runs.front().key);
  return is_there(spec_path(folder)) && read_planned_run(folder).spec.is_own_program();
}

// Why curves over samples are missing, if that is because no program has reported its samples; else empty.
std::string missing_samples(const ChartSource& source, Over over)
{
  const auto has_samples = [](const store::RunRow& run) { return run.samples_of_step() > 0; };
  if (over == Over::time || source.runs.empty() || std::ranges::any_of(source.runs, has_samples)) return {};
  return "No run has recorded how many samples a step has. Let the program report them (dtctl_report.step(samples=...)), or draw "
         "over time.";
}

// Why there is no curve if all runs diverged; else empty.
std::string all_diverged(const ChartSource& source)
{
  const bool is_so = std::all_of(source.runs.begin(), source.runs.end(),
                                 [](const auto& run) { return run.state != RunState::succeeded || run.has_diverged(); });
  return is_so && !diverged_note(source).empty() ? "All runs diverged. dtctl show and dtctl serve have the course of each run."
                                                 : "";
}

Charts loss_chart(const ChartSource& source, Over over)
{
  auto charts = course_chart(source, {.id = over == Over::time ? "loss" : "loss-samples",
                                      .title = over == Over::time ? "Training loss over time" : "Training loss over samples",
                                      .y_title = "training loss",
                                      .over = over,
                                      .curve = &store::RunCurves::loss});
  if (charts.charts.empty()) charts.missing = all_diverged(source);
  if (charts.charts.empty() && charts.missing.empty()) charts.missing = missing_samples(source, over);
  if (charts.charts.empty() && charts.missing.empty())
    charts.missing = "No run has recorded a training loss yet. Simulated runs have none.";
  return charts;
}

Charts accuracy_chart(const ChartSource& source, Over over)
{
  auto charts =
      course_chart(source, {.id = over == Over::time ? "accuracy" : "accuracy-samples",
                            .title = over == Over::time ? "Held-out accuracy over time" : "Held-out accuracy over samples",
                            .y_title = "accuracy",
                            .over = over,
                            .curve = &store::RunCurves::accuracy,
                            .is_share = true});
  if (charts.charts.empty()) charts.missing = all_diverged(source);
  if (charts.charts.empty() && charts.missing.empty()) charts.missing = missing_samples(source, over);
  if (charts.charts.empty() && charts.missing.empty())
    charts.missing =
        std::string("No accuracy can be drawn: no run was evaluated, or the times of the repeats' evaluations do not overlap. ") +
        (is_own_program(source) ? "Let the program report its evaluations: dtctl_report.evaluation(accuracy)."
                                : "Set train.eval_every_epochs in the recipe.");
  return charts;
}

} // namespace

Charts noise_scale_chart(const ChartSource& source)
{
  auto charts = course_chart(source, {.id = "noise-scale",
                                      .title = "Gradient noise scale over samples",
                                      .y_title = "noise scale [samples]",
                                      .over = Over::samples,
                                      .curve = &store::RunCurves::noise_scale});
  if (charts.charts.empty())
    charts.missing =
        "No run has a curve of the gradient noise scale. Set train.noise_scale and train.eval_every_epochs, so that at "
        "least 16 steps are looked at from one evaluation to another. Only runs of dtengine have one.";
  return charts;
}

Charts loss_over_time(const ChartSource& source) { return loss_chart(source, Over::time); }
Charts loss_over_samples(const ChartSource& source) { return loss_chart(source, Over::samples); }
Charts accuracy_over_time(const ChartSource& source) { return accuracy_chart(source, Over::time); }
Charts accuracy_over_samples(const ChartSource& source) { return accuracy_chart(source, Over::samples); }

} // namespace dt::cli
