#include "store/analysis/prediction/forecast.hpp"

#include "core/error.hpp"
#include "store/analysis/statistics/distributions.hpp"
#include "store/analysis/statistics/scaling.hpp"
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

// A backtest from one size counts only if there are no others, and one of a size that its measurements do not identify never
// counts, because its error is not the model's. `past_knee`: of a prediction that is past a knee.
ModelError error_of_model(std::span<const Backtest> backtests, Sizes sizes, bool past_knee)
{
  const auto counts = [&](const Backtest& test) { return test.is_identified && (past_knee || !test.is_from_before_knee); };
  const bool has_several =
      std::any_of(backtests.begin(), backtests.end(), [&](const auto& test) { return counts(test) && test.from_sizes > 1; });
  ModelError error;
  double squares = error.variance;
  for (const auto& test : backtests) {
    if (!counts(test) || (has_several && test.from_sizes < 2)) continue;
    const auto& before = sizes[static_cast<std::size_t>(test.from_sizes) - 1];
    const double log_error = std::log1p(test.error);
    squares += log_error * log_error / doublings(static_cast<double>(test.size), static_cast<double>(before.at.size));
    ++error.freedom;
  }
  error.variance = squares / error.freedom;
  return error;
}

// A predicted logarithm of a throughput, and how much worse its fit agrees with the measurements.
struct Outcome {
  double log_throughput = 0, misfit = 0;
};

// The union of the intervals around all outcomes.
Interval union_around(const std::vector<Outcome>& outcomes, double deviation, double freedom)
{
  const double half = student_t_quantile((1 + forecast_level) / 2, freedom) * deviation;
  Interval logs{outcomes.front().log_throughput - half, outcomes.front().log_throughput + half};
  for (const auto& [log_throughput, misfit] : outcomes) {
    const double reach = half * std::sqrt(std::max(0.0, 1 - misfit / most_misfit));
    logs.low = std::min(logs.low, log_throughput - reach);
    logs.high = std::max(logs.high, log_throughput + reach);
  }
  return {std::exp(logs.low), std::exp(logs.high)};
}

// By how much the logarithms of the outcomes differ.
double spread_of(const std::vector<Outcome>& outcomes)
{
  const auto [least, most] = std::minmax_element(
      outcomes.begin(), outcomes.end(), [](const auto& a, const auto& b) { return a.log_throughput < b.log_throughput; });
  return most->log_throughput - least->log_throughput;
}

// Predicts one size from `sizes`, which the calibration was made of.
class Predictor {
 public:
  Predictor(const Calibration& calibration, Sizes sizes, std::span<const Backtest> backtests)
      : calibration_(calibration), sizes_(sizes), fits_(possible_fits(calibration, sizes)),
        error_(error_of_model(backtests, sizes, false)), error_past_knee_(error_of_model(backtests, sizes, true)),
        run_variance_(variance_of_runs(sizes)), step_at_largest_(step_at(calibration, sizes.back().at))
  {
    models_.push_back(calibration);
    for (const auto& fit : fits_) models_.push_back(fit.calibration);
  }

  const std::vector<PossibleFit>& fits() const { return fits_; }

  Prediction at(std::int64_t n) const
  {
    const auto& largest = sizes_.back();
    Prediction prediction{.at = size_of(calibration_.traits, n)};
    const auto steps = steps_at(models_, prediction.at);
    prediction.step = steps.front();
    const auto samples = static_cast<double>(prediction.at.workers) * prediction.at.batch;
    prediction.throughput = samples / prediction.step.step_s;
    prediction.changes = changes_between(
        calibration_, {largest.at, prediction.at, step_at_largest_, prediction.step, std::span(steps).subspan(1)});
    add_intervals(prediction, outcomes_of(steps, prediction.at));
    add_cost(prediction, samples);
    return prediction;
  }

 private:
  // The best fit's first.
  std::vector<Outcome> outcomes_of(const std::vector<PredictedStep>& steps, const StudySize& size) const
  {
    const double samples = static_cast<double>(size.workers) * size.batch;
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < steps.size(); ++i)
      outcomes.push_back({std::log(samples / steps[i].step_s), i == 0 ? 0 : fits_[i - 1].misfit});
    return outcomes;
  }

  void add_intervals(Prediction& prediction, const std::vector<Outcome>& outcomes) const
  {
    const auto& largest = sizes_.back();
    const auto& error = is_past_knee(prediction.changes) ? error_past_knee_ : error_;
    const double beyond = doublings(static_cast<double>(prediction.at.size), static_cast<double>(largest.at.size));
    const double variance = 2 * run_variance_ / static_cast<double>(largest.runs.size()) + error.variance * beyond;
    prediction.throughput_interval = union_around(outcomes, std::sqrt(variance), error.freedom);
    const auto& base = sizes_.front();
    const auto workers = static_cast<double>(prediction.at.workers), base_workers = static_cast<double>(base.at.workers);
    prediction.efficiency = efficiency({.mean = std::log(prediction.throughput)}, workers, logs_of(base), base_workers);
    const double of_base = run_variance_ / static_cast<double>(base.runs.size());
    const auto of_efficiency = union_around(outcomes, std::sqrt(variance + of_base), error.freedom);
    const double per_throughput = prediction.efficiency / prediction.throughput;
    prediction.efficiency_interval = {of_efficiency.low * per_throughput, of_efficiency.high * per_throughput};
    add_what_is_open(prediction, outcomes, std::sqrt(variance));
  }

  // A parameter is open if it alone moves the prediction by more than the interval would be wide without it.
  void add_what_is_open(Prediction& prediction, const std::vector<Outcome>& outcomes, double deviation) const
  {
    prediction.is_identified = spread_of(outcomes) <= std::log(most_open);
    for (std::size_t i = 1; i < outcomes.size(); ++i) {
      const double moved = std::abs(outcomes[i].log_throughput - outcomes.front().log_throughput);
      const bool is_known =
          std::find(prediction.open.begin(), prediction.open.end(), fits_[i - 1].parameter) != prediction.open.end();
      if (moved > deviation && !is_known) prediction.open.push_back(fits_[i - 1].parameter);
    }
    if (!prediction.is_identified || !prediction.open.empty()) prediction.measure = size_that_tells(prediction.at);
  }

  // The smallest size beyond the measured ones at which the fits differ by more than measurements and the model are off;
  // otherwise the asked one.
  std::int64_t size_that_tells(const StudySize& asked) const
  {
    constexpr double least_difference = 0.1;
    for (const auto size : sizes_on_the_way(asked.size)) {
      const auto at = size_of(calibration_.traits, size);
      if (spread_of(outcomes_of(steps_at(models_, at), at)) >= std::max(least_difference, 4 * std::sqrt(run_variance_)))
        return size;
    }
    return asked.size;
  }

  // Twice, four times, … as many workers as at the largest measured size, and the first size that crosses a trunk.
  std::vector<std::int64_t> sizes_on_the_way(std::int64_t asked) const
  {
    const auto& traits = calibration_.traits;
    const auto& largest = sizes_.back().at;
    std::vector<std::int64_t> sizes;
    for (auto workers = 2 * largest.workers; workers < most_workers; workers *= 2) {
      const auto ranks = workers + traits.servers;
      sizes.push_back(traits.by_nodes ? (ranks + traits.ranks_per_node - 1) / traits.ranks_per_node : ranks);
      if (sizes.back() >= asked) break;
    }
    if (const auto two = 2 * traits.nodes_per_supernode; two > 0)
      sizes.push_back(traits.by_nodes ? two : two * traits.ranks_per_node);
    std::erase_if(sizes, [&](auto size) { return size <= largest.size || size > asked; });
    std::sort(sizes.begin(), sizes.end());
    return sizes;
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
  std::vector<PossibleFit> fits_;
  std::vector<Calibration> models_{}; // the best fit, then those of fits_
  ModelError error_, error_past_knee_;
  double run_variance_;
  PredictedStep step_at_largest_;
};

// Predicts series.sizes[tested] from the first `from` sizes.
Backtest backtest(const SeriesMeasurements& series, std::size_t from, std::size_t tested, std::span<const Backtest> earlier,
                  const std::optional<CostModel>& network)
{
  const auto smaller = Sizes(series.sizes).first(from);
  const auto& size = series.sizes[tested];
  const auto borrowed = Sizes(series.sizes).subspan(tested, 1);
  const auto calibration = calibrate(series.traits, smaller, {.network = network, .borrowed = borrowed});
  const auto prediction = Predictor(calibration, smaller, earlier).at(size.at.size);
  const double measured = throughput_of(size);
  return {.size = size.at.size,
          .from_sizes = static_cast<std::int64_t>(from),
          .predicted = prediction.throughput,
          .measured = measured,
          .interval = prediction.throughput_interval,
          .error = error_of(prediction.throughput, measured),
          .borrowed_link = !series.traits.is_served && !network && !has_link_times(smaller, series.traits),
          .is_past_knee = is_past_knee(prediction.changes),
          .is_identified = prediction.is_identified};
}

// The number of sizes before the first one that lies past a knee, by a calibration with all sizes; two at least, because one says
// too little. All sizes without a knee.
std::size_t sizes_before_knee(const SeriesMeasurements& series, const std::optional<CostModel>& network)
{
  if (series.sizes.size() < 3) return series.sizes.size();
  const auto calibration = calibrate(series.traits, series.sizes, {.network = network});
  for (std::size_t k = 2; k < series.sizes.size(); ++k) {
    const auto &from = series.sizes[k - 1].at, &to = series.sizes[k].at;
    if (is_past_knee(changes_between(calibration, {from, to, step_at(calibration, from), step_at(calibration, to), {}})))
      return k;
  }
  return series.sizes.size();
}

// Of a program of the user, the observer or the program itself must have told the phases, and where ranks work together also what
// they exchange.
void require_told(const SeriesMeasurements& series)
{
  if (!series.traits.is_own_program) return;
  const auto refuse = [&](const MeasuredSize& size, const char* what) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} runs a program of your own, and of its runs with {} {}, so larger sizes cannot be predicted. dtctl "
                    "observes PyTorch programs that nobody changed (program.observe); another program tells its phases "
                    "and its parameters with dtctl_report. Or measure the sizes: dtctl sweep RECIPE --set study.{}=A,B",
                    series.series.empty() ? "the study" : series.series, in_units(series.traits, size.at.size), what,
                    series.traits.by_nodes ? "nodes" : "ranks"));
  };
  for (const auto& size : series.sizes)
    for (const auto& run : size.runs) {
      if (run.workers.empty()) refuse(size, "the times of the forward and the backward pass are not known");
      if (size.at.workers == 1) continue;
      for (const auto& worker : run.workers)
        if (!std::isfinite(worker.communication_s)) refuse(size, "it is not known how long ranks communicate");
      if (run.buckets.empty() && !(series.traits.exchange_bytes > 0)) refuse(size, "it is not known how many bytes they sum");
    }
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
  for (std::size_t k = 1; k < series.sizes.size(); ++k) backtests.push_back(backtest(series, k, k, backtests, network));
  const auto before = sizes_before_knee(series, network);
  for (std::size_t tested = before + 1; tested < series.sizes.size(); ++tested) {
    const auto earlier = std::span(backtests).first(before - 1);
    auto beyond = backtest(series, before, tested, earlier, network);
    beyond.is_from_before_knee = true;
    backtests.push_back(beyond);
  }
  return backtests;
}

Forecast forecast(const SeriesMeasurements& series, std::span<const std::int64_t> sizes, const std::optional<CostModel>& network)
{
  require_told(series);
  require_sizes(series, network);
  require_workers(series.traits, sizes);
  Forecast forecast{.calibration = calibrate(series.traits, series.sizes, {.network = network}),
                    .backtests = backtests_of(series, network)};
  const Predictor predictor(forecast.calibration, series.sizes, forecast.backtests);
  auto& assumptions = forecast.calibration.assumptions;
  for (auto& sentence : ranges_in_words(forecast.calibration, predictor.fits())) assumptions.push_back(std::move(sentence));
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
    const bool is_far = static_cast<double>(prediction.at.size) > far_beyond * static_cast<double>(series.sizes.back().at.size);
    if (is_far || width <= widest) continue;
    widest = width;
    best = prediction.at.size;
  }
  return best;
}

} // namespace dt::store
