#include "store/analysis/prediction/forecast.hpp"

#include "core/error.hpp"
#include "store/analysis/scaling.hpp"
#include "store/analysis/statistics/distributions.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::store {
namespace {

constexpr std::int64_t most_workers = 1'000'000;
constexpr double usual_error = 0.05; // τ0: of the model in one doubling, before any backtest

using Sizes = std::span<const MeasuredSize>;

Moments logs_of(const MeasuredSize& size)
{
  std::vector<double> throughputs;
  for (const auto& run : size.runs) throughputs.push_back(run.throughput);
  return log_moments(throughputs);
}

// Variance of one run's logarithm, pooled over the sizes. 0 without repeats.
double variance_of_runs(Sizes sizes)
{
  double squares = 0, freedom = 0;
  for (const auto& size : sizes) {
    const auto logs = logs_of(size);
    if (logs.count < 2) continue;
    squares += (logs.count - 1) * logs.variance;
    freedom += logs.count - 1;
  }
  return freedom > 0 ? squares / freedom : 0;
}

double doublings(double size, double from) { return std::max(1.0, std::abs(std::log2(size / from))); }

// What the backtests say about the model: τ² and the degrees of freedom of its estimate.
struct ModelError {
  double variance = usual_error * usual_error, freedom = 1;
};

ModelError error_of_model(std::span<const Backtest> backtests, Sizes sizes)
{
  const bool has_several = std::any_of(backtests.begin(), backtests.end(), [](const auto& test) { return test.from_sizes > 1; });
  ModelError error;
  double squares = error.variance;
  for (const auto& test : backtests) {
    if (has_several && test.from_sizes < 2) continue;
    const auto& before = sizes[static_cast<std::size_t>(test.from_sizes) - 1];
    const double log_error = std::log1p(test.error);
    squares += log_error * log_error / doublings(static_cast<double>(test.size), static_cast<double>(before.at.size));
    ++error.freedom;
  }
  error.variance = squares / error.freedom;
  return error;
}

Interval around(double value, double deviation, double freedom)
{
  const double half = student_t_quantile((1 + forecast_level) / 2, freedom) * deviation;
  return {value * std::exp(-half), value * std::exp(half)};
}

// Predicts one size from `sizes`, which the calibration was made of.
class Predictor {
 public:
  Predictor(const Calibration& calibration, Sizes sizes, std::span<const Backtest> backtests)
      : calibration_(calibration), sizes_(sizes), error_(error_of_model(backtests, sizes)), run_variance_(variance_of_runs(sizes))
  {
  }

  Prediction at(std::int64_t n) const
  {
    const auto& largest = sizes_.back();
    Prediction prediction{.at = size_of(calibration_.traits, n)};
    prediction.step = step_at(calibration_, prediction.at);
    const auto samples = static_cast<double>(prediction.at.workers) * prediction.at.batch;
    prediction.throughput = samples / prediction.step.step_s;
    const double beyond = doublings(static_cast<double>(n), static_cast<double>(largest.at.size));
    const double runs = static_cast<double>(largest.runs.size());
    const double variance = 2 * run_variance_ / runs + error_.variance * beyond;
    prediction.throughput_interval = around(prediction.throughput, std::sqrt(variance), error_.freedom);
    add_efficiency(prediction, variance);
    add_cost(prediction, samples);
    prediction.is_extrapolation = static_cast<double>(n) > extrapolation_beyond * static_cast<double>(largest.at.size);
    return prediction;
  }

 private:
  void add_efficiency(Prediction& prediction, double variance) const
  {
    const auto& base = sizes_.front();
    const auto workers = static_cast<double>(prediction.at.workers), base_workers = static_cast<double>(base.at.workers);
    prediction.efficiency = efficiency({.mean = std::log(prediction.throughput)}, workers, logs_of(base), base_workers);
    const double of_base = run_variance_ / static_cast<double>(base.runs.size());
    prediction.efficiency_interval = around(prediction.efficiency, std::sqrt(variance + of_base), error_.freedom);
  }

  // Studies by steps do as many steps at every size; studies by epochs see as many samples.
  void add_cost(Prediction& prediction, double samples_a_step) const
  {
    const auto& smallest = sizes_.front();
    const auto& largest = sizes_.back();
    const double steps = largest.runs.front().steps;
    const bool by_steps = sizes_.size() > 1 && smallest.runs.front().steps == steps;
    const double samples = static_cast<double>(largest.at.workers) * largest.at.batch * steps;
    prediction.time_s = (by_steps ? steps : samples / samples_a_step) * prediction.step.step_s;
    prediction.node_hours = prediction.time_s * static_cast<double>(prediction.at.nodes) / 3600;
  }

  const Calibration& calibration_;
  Sizes sizes_;
  ModelError error_;
  double run_variance_;
};

Backtest backtest(const SeriesMeasurements& series, std::size_t left_out, std::span<const Backtest> earlier,
                  const std::optional<CostModel>& network)
{
  const auto smaller = Sizes(series.sizes).first(left_out);
  const auto& size = series.sizes[left_out];
  const auto borrowed = Sizes(series.sizes).subspan(left_out, 1);
  const auto calibration = calibrate(series.traits, smaller, {.network = network, .borrowed = borrowed});
  const auto prediction = Predictor(calibration, smaller, earlier).at(size.at.size);
  const double measured = throughput_of(size);
  return {.size = size.at.size,
          .from_sizes = static_cast<std::int64_t>(left_out),
          .predicted = prediction.throughput,
          .measured = measured,
          .interval = prediction.throughput_interval,
          .error = error_of(prediction.throughput, measured),
          .borrowed_link = !series.traits.is_served && !network && !has_link_times(smaller, series.traits)};
}

// "1 node", "16 ranks".
std::string in_units(const SeriesTraits& traits, std::int64_t n)
{
  return fmt::format("{} {}{}", n, traits.by_nodes ? "node" : "rank", n == 1 ? "" : "s");
}

void refuse_own_program(const SeriesMeasurements& series)
{
  if (series.traits.is_own_program)
    throw Error(ErrorKind::usage,
                fmt::format("{} runs a program of your own, so its larger sizes cannot be predicted: predictions replay the "
                            "exchanges of dtengine's strategies, and how this program exchanges is not known. Measure the sizes "
                            "instead: dtctl sweep RECIPE --set study.{}=A,B",
                            series.series.empty() ? "the study" : series.series, series.traits.by_nodes ? "nodes" : "ranks"));
}

void require_sizes(const SeriesMeasurements& series, const std::optional<CostModel>& network)
{
  const std::string of_series = series.series.empty() ? "" : " of " + series.series;
  if (series.sizes.empty())
    throw Error(ErrorKind::usage, "there is no succeeded run" + of_series +
                                      " with times of its ranks to predict from. Run the study first: dtctl sweep RECIPE --wait");
  if (series.sizes.size() < 2 && !network)
    throw Error(ErrorKind::usage,
                fmt::format("only one size{} was measured ({}), so nothing is known about how communication grows and no "
                            "efficiency can be predicted. Measure a second size, or describe the network in a machine profile "
                            "(`network: {{latency: 50us, bandwidth: 1 Gbit/s}}`) and give --profile",
                            of_series, in_units(series.traits, series.sizes.front().at.size)));
}

void require_workers(const SeriesTraits& traits, std::span<const std::int64_t> sizes)
{
  for (const auto n : sizes) {
    const auto workers = size_of(traits, n).workers;
    if (workers > most_workers)
      throw Error(ErrorKind::usage, fmt::format("{}: {} workers, but predictions replay at most {}. Give a smaller size",
                                                in_units(traits, n), workers, most_workers));
    if (n < 1 || workers < 1)
      throw Error(ErrorKind::usage,
                  fmt::format("{}: no worker, because the strategy has {} parameter servers. Give a larger size",
                              in_units(traits, n), traits.servers));
  }
}

} // namespace

double error_of(double predicted, double measured) { return predicted / measured - 1; }

std::vector<Backtest> backtests_of(const SeriesMeasurements& series, const std::optional<CostModel>& network)
{
  std::vector<Backtest> backtests;
  for (std::size_t k = 1; k < series.sizes.size(); ++k) backtests.push_back(backtest(series, k, backtests, network));
  return backtests;
}

Forecast forecast(const SeriesMeasurements& series, std::span<const std::int64_t> sizes, const std::optional<CostModel>& network)
{
  refuse_own_program(series);
  require_sizes(series, network);
  require_workers(series.traits, sizes);
  Forecast forecast{.calibration = calibrate(series.traits, series.sizes, {.network = network}),
                    .backtests = backtests_of(series, network)};
  const Predictor predictor(forecast.calibration, series.sizes, forecast.backtests);
  for (const auto n : sizes) forecast.predictions.push_back(predictor.at(n));
  return forecast;
}

std::int64_t most_informative_size(const SeriesMeasurements& series, const std::optional<CostModel>& network, std::int64_t most)
{
  std::vector<std::int64_t> sizes;
  for (auto n = 2 * series.sizes.back().at.size; n <= most; n *= 2) sizes.push_back(n);
  const auto predicted = forecast(series, sizes, network).predictions;
  std::int64_t best = 0;
  double widest = 0;
  for (const auto& prediction : predicted) {
    const double width = std::log(prediction.throughput_interval.high / prediction.throughput_interval.low);
    if (prediction.is_extrapolation || width <= widest) continue;
    widest = width;
    best = prediction.at.size;
  }
  return best;
}

} // namespace dt::store
