// Measured throughput, the band predicted for larger sizes, and what was predicted earlier.
#include "cli/output/number_text.hpp"
#include "cli/report/chart/charts.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "store/analysis/prediction/forecast.hpp"
#include "store/query/prediction_query.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

Series measured_series(const ChartSource& source, const store::SeriesMeasurements& measured)
{
  Series series{.name = "measured",
                .mark = Mark::line,
                .origin = is_simulated(source, measured.series) ? Origin::simulated : Origin::measured,
                .points = {},
                .colour = 0};
  if (series.origin == Origin::simulated) series.name = "simulated";
  for (const auto& size : measured.sizes) {
    const auto runs = static_cast<std::int64_t>(size.runs.size());
    ChartPoint point{static_cast<double>(size.at.size), store::throughput_of(size), not_measured, not_measured,
                     runs_text(runs, runs)};
    const auto [low, high] = std::minmax_element(size.runs.begin(), size.runs.end(),
                                                 [](const auto& a, const auto& b) { return a.throughput < b.throughput; });
    if (runs > 1) point.low = low->throughput, point.high = high->throughput;
    series.points.push_back(std::move(point));
  }
  return series;
}

// A sentence for the chart: what is certain to change (such as a full server) beyond the largest measured size, and what these
// sizes cannot tell.
std::string note_of(const store::Prediction& prediction)
{
  std::vector<std::string> words;
  if (!prediction.is_identified)
    words.push_back(fmt::format("not identifiable from these sizes; measure {}", prediction.measure));
  for (const auto& change : prediction.changes)
    if (change.is_certain) words.push_back(change.text);
  return join(words, "; ");
}

// The band begins at the largest measured size, so that it joins the measured line.
Series predicted_series(const store::SeriesMeasurements& measured, const store::Forecast& forecast)
{
  Series series{.name = "predicted, 80 % interval", .mark = Mark::band, .origin = Origin::predicted, .points = {}, .colour = 1};
  const auto& last = measured.sizes.back();
  const double largest = store::throughput_of(last);
  series.points.push_back({static_cast<double>(last.at.size), largest, largest, largest, "largest measured size"});
  for (const auto& prediction : forecast.predictions)
    series.points.push_back({static_cast<double>(prediction.at.size),
                             prediction.is_identified ? prediction.throughput : not_measured, prediction.throughput_interval.low,
                             prediction.throughput_interval.high, note_of(prediction)});
  return series;
}

// The stored predictions of this series.
Series earlier_series(const ChartSource& source, const store::SeriesMeasurements& measured)
{
  Series series{.name = "predicted earlier", .mark = Mark::points, .origin = Origin::predicted, .points = {}, .colour = 2};
  for (const auto& scored : store::scored_predictions(source.database, source.study.name)) {
    const auto& prediction = scored.prediction;
    if (prediction.series != measured.series) continue;
    const auto size = measured.traits.by_nodes ? prediction.nodes : prediction.ranks;
    auto note = scored.runs == 0 ? std::string("not measured yet") : "error " + percent_change(scored.error);
    if (prediction.unidentified) note = scored.runs == 0 ? "not identifiable" : scored.is_inside() ? "inside" : "outside";
    series.points.push_back(
        {static_cast<double>(size), prediction.throughput, prediction.throughput_low, prediction.throughput_high, note});
  }
  return series;
}

Chart prediction_of(const ChartSource& source, const store::SeriesMeasurements& measured, const store::Forecast& forecast)
{
  Chart chart{.id = "prediction",
              .title = "Prediction for larger sizes: " + legend_name(source, measured.series),
              .caption = "Measured: geometric means; error bars from the slowest to the fastest run. The band should contain the "
                         "measured value in 80 % of all cases.",
              .x = {.title = measured.traits.by_nodes ? "nodes" : "ranks", .scale = AxisScale::log2},
              .y = {.title = "throughput [samples/s]", .scale = AxisScale::log10},
              .label = measured.series};
  chart.series = {measured_series(source, measured), predicted_series(measured, forecast)};
  if (auto earlier = earlier_series(source, measured); !earlier.points.empty()) chart.series.push_back(std::move(earlier));
  for (const auto& series : chart.series)
    for (const auto& point : series.points) chart.x.ticks.push_back(point.x);
  std::sort(chart.x.ticks.begin(), chart.x.ticks.end());
  chart.x.ticks.erase(std::unique(chart.x.ticks.begin(), chart.x.ticks.end()), chart.x.ticks.end());
  return chart;
}

void add_chart(Charts& charts, const ChartSource& source, const store::SeriesMeasurements& measured)
{
  if (measured.sizes.empty()) return;
  const auto largest = measured.sizes.back().at.size;
  const std::vector<std::int64_t> sizes{largest * 2, largest * 4};
  charts.charts.push_back(prediction_of(source, measured, store::forecast(measured, sizes, std::nullopt)));
  charts.charts.back().id += fmt::format("-{}", charts.charts.size());
}

std::string sentence_of(const Error& error)
{
  std::string message = error.what();
  if (!message.empty()) message.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(message.front())));
  return with_full_stop(std::move(message));
}

} // namespace

Charts prediction_charts(const ChartSource& source)
{
  Charts charts;
  try {
    for (const auto& measured : store::measurements_of_study(source.database, source.study.id, std::nullopt, source.labels)) {
      if (!is_drawn(source, measured.series)) continue;
      try {
        add_chart(charts, source, measured);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        charts.missing = sentence_of(error); // the label cannot be predicted; another one may
      }
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    charts.missing = sentence_of(error);
  }
  if (charts.charts.empty() && charts.missing.empty()) charts.missing = "No label has succeeded runs of two sizes.";
  if (!charts.charts.empty()) charts.missing.clear();
  return charts;
}

} // namespace dt::cli
