#include "cli/answers/prediction_tables.hpp"

#include "cli/output/number_text.hpp"
#include "cli/output/table_column.hpp"
#include "core/text.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace dt::cli {
namespace {

Cell series_cell(const std::string& series, const store::PointLabels& labels)
{
  return series.empty() ? Cell{nullptr, "-", Style::dim} : Cell{series, labels.shown(series)};
}

template<class Value> TableColumn<OfSeries<Value>> series_column(const std::vector<OfSeries<Value>>& rows)
{
  std::vector<std::string> labels;
  for (const auto& row : rows) labels.push_back(row.series);
  return {{"series", "point"}, [shown = store::PointLabels(labels)](const auto& row) { return series_cell(row.series, shown); }};
}

// A column of the value itself.
template<class Value> TableColumn<OfSeries<Value>> column(Column column, std::function<Cell(const Value&)> cell)
{
  return {std::move(column), [cell](const OfSeries<Value>& row) { return cell(row.value); }};
}

// "5120 [4800, 5430]"; "[2100, 5430]" without a value.
Cell with_ends(Cell cell, const Cell& low, const Cell& high, const store::Interval& interval)
{
  if (!std::isfinite(interval.low) || interval.low == interval.high) return cell;
  const auto ends = fmt::format("[{}, {}]", low.text, high.text);
  cell.text = cell.value.is_null() ? ends : cell.text + " " + ends;
  return cell;
}

Cell throughput_cell(double value, const store::Interval& interval)
{
  return with_ends(real_cell(value), real_cell(interval.low), real_cell(interval.high), interval);
}

// "91.5 % [88.0, 95.1]"; the interval alone if the measured sizes do not identify it.
Cell efficiency_cell(const store::Prediction& prediction)
{
  const auto ends =
      fmt::format("[{:.1f}, {:.1f}]", prediction.efficiency_interval.low * 100, prediction.efficiency_interval.high * 100);
  if (!prediction.is_identified) return {nullptr, ends};
  auto cell = percent_cell(prediction.efficiency);
  cell.text += " " + ends;
  return cell;
}

// A figure of the best fit, which says nothing if the measured sizes do not identify the prediction.
double if_identified(const store::Prediction& prediction, double figure)
{
  return prediction.is_identified ? figure : not_measured;
}

// "extrapolation", "not identifiable from these sizes; measure 17".
Cell note_cell(const store::Prediction& prediction)
{
  std::vector<std::string> words;
  if (store::is_extrapolation(prediction.changes)) words.emplace_back("extrapolation");
  if (!prediction.is_identified)
    words.push_back(fmt::format("not identifiable from these sizes; measure {}", prediction.measure));
  else if (prediction.measure > 0)
    words.push_back(prediction.measure < prediction.at.size ? fmt::format("wide; measure {}", prediction.measure) : "wide");
  return text_cell(join(words, "; "), Style::warning);
}

std::string note_of(const store::Backtest& test)
{
  std::vector<std::string> words;
  if (test.is_from_before_knee)
    words.emplace_back("all sizes past the knee left out");
  else if (test.is_past_knee)
    words.emplace_back("past a knee");
  if (!test.is_identified) words.emplace_back("not identifiable");
  return join(words, "; ");
}

template<class Backtest> std::string note_of(const Backtest& test) { return test.is_identified ? "" : "not identifiable"; }

template<class Value, class NameOf> Json names_of(const std::vector<Value>& values, NameOf name_of)
{
  auto names = Json::array();
  for (const auto& value : values) names.push_back(name_of(value));
  return names;
}

Cell error_cell(double error, bool is_inside)
{
  if (!std::isfinite(error)) return {nullptr, "-", Style::dim};
  return {error, percent_change(error), is_inside ? Style::plain : Style::warning};
}

std::string interval_title(const std::string& name) { return fmt::format("{} [{:.0f} %]", name, store::forecast_level * 100); }

// Adds the columns that every table of backtests ends with: the predicted and the measured value, and the error. `shown` prints a
// value in its unit.
template<class Backtest>
std::vector<TableColumn<OfSeries<Backtest>>> with_outcome(std::vector<TableColumn<OfSeries<Backtest>>> columns,
                                                          Cell (*shown)(double))
{
  using B = Backtest;
  const std::vector<TableColumn<OfSeries<B>>> outcome{
      column<B>({"predicted", interval_title("predicted"), Align::right},
                [shown](const B& b) {
                  return with_ends(shown(b.predicted), shown(b.interval.low), shown(b.interval.high), b.interval);
                }),
      column<B>({"predicted_low", ""}, [](const B& b) { return real_cell(b.interval.low); }),
      column<B>({"predicted_high", ""}, [](const B& b) { return real_cell(b.interval.high); }),
      column<B>({"measured", "measured", Align::right}, [shown](const B& b) { return shown(b.measured); }),
      column<B>({"error", "error", Align::right}, [](const B& b) { return error_cell(b.error, b.covered()); }),
      column<B>({"inside", ""}, [](const B& b) { return data_cell(b.covered()); }),
      column<B>({"identified", ""}, [](const B& b) { return data_cell(b.is_identified); }),
      column<B>({"note", "note"}, [](const B& b) { return text_cell(note_of(b)); }),
  };
  columns.insert(columns.end(), outcome.begin(), outcome.end());
  return columns;
}

Cell plain_cell(double value) { return real_cell(value); }

} // namespace

Table prediction_table(const std::vector<OfSeries<store::Prediction>>& predictions)
{
  using P = store::Prediction;
  const std::vector<TableColumn<OfSeries<P>>> columns{
      series_column<P>(predictions),
      column<P>({"nodes", "nodes", Align::right, 3}, [](const P& p) { return count_cell(p.at.nodes); }),
      column<P>({"ranks", "ranks", Align::right}, [](const P& p) { return count_cell(p.at.ranks); }),
      column<P>({"workers", ""}, [](const P& p) { return count_cell(p.at.workers); }),
      column<P>({"batch_per_rank", ""}, [](const P& p) { return real_cell(p.at.batch); }),
      column<P>({"throughput", interval_title("samples/s"), Align::right},
                [](const P& p) { return throughput_cell(if_identified(p, p.throughput), p.throughput_interval); }),
      column<P>({"throughput_low", ""}, [](const P& p) { return real_cell(p.throughput_interval.low); }),
      column<P>({"throughput_high", ""}, [](const P& p) { return real_cell(p.throughput_interval.high); }),
      column<P>({"efficiency", interval_title("efficiency"), Align::right}, efficiency_cell),
      column<P>({"efficiency_low", ""}, [](const P& p) { return percent_cell(p.efficiency_interval.low); }),
      column<P>({"efficiency_high", ""}, [](const P& p) { return percent_cell(p.efficiency_interval.high); }),
      column<P>({"communication", "comm.", Align::right, 2},
                [](const P& p) { return percent_cell(if_identified(p, p.step.communication)); }),
      column<P>({"stragglers", "stragglers", Align::right, 2},
                [](const P& p) { return percent_cell(if_identified(p, p.step.stragglers)); }),
      column<P>({"time_s", "time", Align::right}, [](const P& p) { return seconds_cell(if_identified(p, p.time_s)); }),
      column<P>({"node_hours", "node-h", Align::right, 1},
                [](const P& p) { return real_cell(if_identified(p, p.node_hours), 3); }),
      column<P>({"extrapolation", ""}, [](const P& p) { return data_cell(store::is_extrapolation(p.changes)); }),
      column<P>({"changes", ""},
                [](const P& p) { return data_cell(names_of(p.changes, [](const auto& c) { return store::name_of(c.kind); })); }),
      column<P>({"identified", ""}, [](const P& p) { return data_cell(p.is_identified); }),
      column<P>({"open", ""}, [](const P& p) { return data_cell(names_of(p.open, [](auto o) { return store::name_of(o); })); }),
      column<P>({"measure", ""}, [](const P& p) { return data_cell(p.measure > 0 ? Json(p.measure) : Json()); }),
      column<P>({"note", ""}, note_cell),
  };
  auto table = table_of("predictions", columns, predictions, std::identity(), "no sizes were asked for");
  const auto has_note = [](const auto& row) { return !note_cell(row.value).text.empty(); };
  if (std::any_of(predictions.begin(), predictions.end(), has_note)) table.columns.back().title = "note";
  return table;
}

Table backtest_table(const std::vector<OfSeries<store::Backtest>>& backtests)
{
  using B = store::Backtest;
  const auto columns = with_outcome<B>(
      {
          series_column<B>(backtests),
          column<B>({"size", "left out", Align::right}, [](const B& b) { return count_cell(b.size); }),
          column<B>({"from_sizes", "from sizes", Align::right}, [](const B& b) { return count_cell(b.from_sizes); }),
          column<B>({"borrowed_link", ""}, [](const B& b) { return data_cell(b.borrowed_link); }),
          column<B>({"past_knee", ""}, [](const B& b) { return data_cell(b.is_past_knee); }),
          column<B>({"from_before_knee", ""}, [](const B& b) { return data_cell(b.is_from_before_knee); }),
      },
      plain_cell);
  return table_of("backtests", columns, backtests, std::identity(),
                  "none: no smaller size was measured, so how far these predictions are off is not known");
}

Table what_if_table(const std::vector<OfSeries<store::Gain>>& gains)
{
  using G = store::Gain;
  const std::vector<TableColumn<OfSeries<G>>> columns{
      series_column<G>(gains),
      column<G>({"change", "what if"}, [](const G& g) { return text_cell(g.change.text); }),
      column<G>({"throughput", "samples/s", Align::right}, [](const G& g) { return real_cell(g.throughput); }),
      column<G>({"gain", "gain", Align::right},
                [](const G& g) {
                  return Cell{g.gain, percent_change(g.gain)};
                }),
  };
  return table_of("what_if", columns, gains, std::identity(),
                  "none: the prediction for this size is not identifiable from the measured sizes");
}

Table law_table(const std::vector<OfSeries<LawPoint>>& points)
{
  using L = LawPoint;
  const std::vector<TableColumn<OfSeries<L>>> columns{
      series_column<L>(points),
      column<L>({"law", "baseline"}, [](const L& l) { return text_cell(l.law); }),
      column<L>({"size", "size", Align::right}, [](const L& l) { return count_cell(l.size); }),
      column<L>({"throughput", "samples/s", Align::right}, [](const L& l) { return real_cell(l.throughput); }),
  };
  return table_of("baselines", columns, points, std::identity(), "none");
}

namespace {

// Names what the time to the target of a size was computed from.
std::string basis_of(const store::TargetPrediction& p)
{
  if (p.is_measured) return "measured";
  const auto* samples = p.samples.is_measured ? "measured samples" : std::isfinite(p.samples.samples) ? "samples by the law" : "";
  if (*samples == 0) return "samples not known";
  return fmt::format("{}, {} speed", samples, p.is_speed_measured ? "measured" : "predicted");
}

std::string note_of(const store::TargetPrediction& p)
{
  if (!std::isfinite(p.samples.samples)) return "";
  if (p.is_identified) return store::is_extrapolation(p.changes) ? "extrapolation" : "";
  return p.samples.is_identified ? "speed not identifiable" : "samples not identifiable: the interval is too wide";
}

} // namespace

Table target_table(const std::vector<OfSeries<store::TargetPrediction>>& predictions)
{
  using P = store::TargetPrediction;
  const std::vector<TableColumn<OfSeries<P>>> columns{
      series_column<P>(predictions),
      column<P>({"nodes", "nodes", Align::right, 3}, [](const P& p) { return count_cell(p.at.nodes); }),
      column<P>({"ranks", "ranks", Align::right}, [](const P& p) { return count_cell(p.at.ranks); }),
      column<P>({"global_batch", "batch", Align::right, 2},
                [](const P& p) { return real_cell(p.at.batch * static_cast<double>(p.at.workers)); }),
      column<P>({"samples", interval_title("samples"), Align::right},
                [](const P& p) { return throughput_cell(p.samples.samples, p.samples.interval); }),
      column<P>({"samples_low", ""}, [](const P& p) { return real_cell(p.samples.interval.low); }),
      column<P>({"samples_high", ""}, [](const P& p) { return real_cell(p.samples.interval.high); }),
      column<P>({"throughput", "samples/s", Align::right, 1}, [](const P& p) { return real_cell(p.throughput); }),
      column<P>({"throughput_low", ""}, [](const P& p) { return real_cell(p.throughput_interval.low); }),
      column<P>({"throughput_high", ""}, [](const P& p) { return real_cell(p.throughput_interval.high); }),
      column<P>({"time_to_target_s", interval_title("to target"), Align::right},
                [](const P& p) {
                  return with_ends(seconds_cell(p.time_s), seconds_cell(p.interval.low), seconds_cell(p.interval.high),
                                   p.interval);
                }),
      column<P>({"time_to_target_low", ""}, [](const P& p) { return seconds_cell(p.interval.low); }),
      column<P>({"time_to_target_high", ""}, [](const P& p) { return seconds_cell(p.interval.high); }),
      column<P>({"node_hours", "node-h", Align::right}, [](const P& p) { return real_cell(p.node_hours, 3); }),
      column<P>({"identified", ""}, [](const P& p) { return data_cell(p.is_identified); }),
      column<P>({"basis", "rests on"}, [](const P& p) { return text_cell(basis_of(p)); }),
      column<P>({"note", "note"}, [](const P& p) { return text_cell(note_of(p), Style::warning); }),
  };
  return table_of("time_to_target", columns, predictions, std::identity(), "no sizes were asked for");
}

Table target_backtest_table(const std::vector<OfSeries<store::TargetBacktest>>& backtests)
{
  using B = store::TargetBacktest;
  const auto columns = with_outcome<B>(
      {
          series_column<B>(backtests),
          column<B>({"size", "left out", Align::right}, [](const B& b) { return count_cell(b.size); }),
          column<B>({"from_sizes", "from sizes", Align::right}, [](const B& b) { return count_cell(b.from_sizes); }),
      },
      seconds_cell);
  return table_of("target_backtests", columns, backtests, std::identity(),
                  "none: no size was measured that two smaller ones could predict, so how far these times are off is not known");
}

Table samples_backtest_table(const std::vector<OfSeries<store::SamplesBacktest>>& backtests)
{
  using B = store::SamplesBacktest;
  const auto columns = with_outcome<B>(
      {
          series_column<B>(backtests),
          column<B>({"batch", "batch", Align::right}, [](const B& b) { return real_cell(b.batch); }),
          column<B>({"from_batches", "from batches", Align::right}, [](const B& b) { return data_cell(b.from_batches); }),
      },
      plain_cell);
  return table_of("samples_backtests", columns, backtests, std::identity(), "none: fewer than three batches were measured");
}

Table score_table(const std::vector<store::ScoredPrediction>& predictions)
{
  using S = store::ScoredPrediction;
  std::vector<std::string> labels;
  for (const auto& one : predictions) labels.push_back(one.prediction.series);
  const store::PointLabels shown(labels);
  const std::vector<TableColumn<S>> columns{
      {{"recipe", "study"}, [](const S& s) { return text_cell(s.prediction.recipe); }},
      {{"series", "point"}, [&](const S& s) { return series_cell(s.prediction.series, shown); }},
      {{"nodes", "nodes", Align::right, 2}, [](const S& s) { return count_cell(s.prediction.nodes); }},
      {{"ranks", "ranks", Align::right}, [](const S& s) { return count_cell(s.prediction.ranks); }},
      {{"predicted", interval_title("predicted"), Align::right},
       [](const S& s) {
         return throughput_cell(s.prediction.throughput, {s.prediction.throughput_low, s.prediction.throughput_high});
       }},
      {{"predicted_low", ""}, [](const S& s) { return real_cell(s.prediction.throughput_low); }},
      {{"predicted_high", ""}, [](const S& s) { return real_cell(s.prediction.throughput_high); }},
      {{"runs", "runs", Align::right, 1}, [](const S& s) { return count_cell(s.runs); }},
      {{"measured", "measured", Align::right}, [](const S& s) { return real_cell(s.measured); }},
      {{"error", "error", Align::right}, [](const S& s) { return error_cell(s.error, s.is_inside()); }},
      {{"inside", ""}, [](const S& s) { return s.runs > 0 ? data_cell(s.is_inside()) : data_cell(nullptr); }},
      {{"predicted_unix_s", "", Align::right}, [](const S& s) { return time_cell(s.prediction.predicted_unix_s); }},
  };
  return table_of("predictions", columns, predictions, std::identity(), "none; make some with: dtctl predict STUDY --nodes N");
}

} // namespace dt::cli
