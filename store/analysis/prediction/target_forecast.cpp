#include "store/analysis/prediction/target_forecast.hpp"

#include "core/error.hpp"
#include "core/spec/strategy_table.hpp"
#include "store/analysis/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::store {
namespace {

constexpr std::int64_t nearest_look = 4, farthest_look = 64; // times the largest measured size

template<class Value> bool all_finite(const std::vector<Value>& values)
{
  return !values.empty() && std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

double centre(const std::vector<double>& values) { return std::exp(log_moments(values).mean); }

// As of the mean of as many other runs; no width with fewer than two.
Interval of_as_many(const std::vector<double>& values)
{
  const auto logs = log_moments(values);
  const double middle = std::exp(logs.mean);
  if (!(logs.variance > 0)) return {middle, middle};
  const double half = student_t_quantile((1 + forecast_level) / 2, logs.count - 1) * std::sqrt(2 * logs.variance / logs.count);
  return {middle * std::exp(-half), middle * std::exp(half)};
}

// The factor of a product whose errors do not depend on each other: their logarithms add in squares.
double joined(double first, double second, double third)
{
  return std::exp(std::hypot(std::log(first), std::log(second), std::log(third)));
}

// Samples until the target, by size.
class Samples {
 public:
  Samples(const SeriesTraits& traits, const TargetSeries& target) : has_law_(follows_samples_law(traits)), target_(target)
  {
    std::vector<BatchRuns> batches;
    for (const auto& size : target.sizes) batches.push_back({size.batch, size.samples});
    law_ = samples_law(std::move(batches));
  }

  const SamplesLaw& law() const { return law_; }

  SamplesPrediction at(const StudySize& size) const
  {
    if (has_law_) return law_.at(size.batch * static_cast<double>(size.workers));
    const auto* own = target_.find(size.ranks);
    if (own == nullptr || !all_finite(own->samples)) return {};
    return {.samples = centre(own->samples), .interval = of_as_many(own->samples), .is_measured = true, .is_identified = true};
  }

 private:
  bool has_law_;
  const TargetSeries& target_;
  SamplesLaw law_;
};

// How much more time than samples / throughput a run takes, and by what factor that changed between the two largest sizes.
struct Pauses {
  double factor = 1, change = 1;
};

Pauses pauses_of(const TargetSeries& target)
{
  std::vector<double> factors;
  for (const auto& size : target.sizes)
    if (all_finite(size.times_s) && all_finite(size.samples) && all_finite(size.throughputs))
      factors.push_back(centre(size.times_s) * centre(size.throughputs) / centre(size.samples));
  if (factors.empty()) return {};
  return {factors.back(), factors.size() > 1 ? factors.back() / factors[factors.size() - 2] : 1};
}

class Joined {
 public:
  Joined(const SeriesMeasurements& speed, const TargetSeries& target, const std::optional<CostModel>& network)
      : speed_(speed), target_(target), network_(network), samples_(speed.traits, target), pauses_(pauses_of(target))
  {
  }

  const SamplesLaw& law() const { return samples_.law(); }
  double pauses() const { return pauses_.factor; }

  std::vector<TargetPrediction> at(std::span<const std::int64_t> sizes) const
  {
    std::vector<TargetPrediction> all;
    std::vector<std::int64_t> unknown;
    std::ranges::copy_if(sizes, std::back_inserter(unknown), [&](auto size) { return measured(size) == nullptr; });
    const auto predicted = unknown.empty() ? std::vector<Prediction>() : forecast(speed_, unknown, network_).predictions;
    for (const auto size : sizes) {
      const auto found = std::ranges::find_if(predicted, [&](const Prediction& one) { return one.at.size == size; });
      all.push_back(found == predicted.end() ? of_measured(*measured(size)) : of_predicted(*found));
    }
    return all;
  }

 private:
  const MeasuredSize* measured(std::int64_t size) const
  {
    const auto found = std::ranges::find_if(speed_.sizes, [&](const MeasuredSize& one) { return one.at.size == size; });
    return found == speed_.sizes.end() ? nullptr : &*found;
  }

  TargetPrediction of_measured(const MeasuredSize& size) const
  {
    std::vector<double> throughputs;
    for (const auto& run : size.runs) throughputs.push_back(run.throughput);
    TargetPrediction prediction{.at = size.at,
                                .samples = samples_.at(size.at),
                                .throughput = centre(throughputs),
                                .throughput_interval = of_as_many(throughputs),
                                .is_speed_measured = true};
    const auto* own = target_.find(size.at.ranks);
    if (own == nullptr || !target_.tells_time) {
      join(prediction, true);
    } else if (all_finite(own->times_s)) {
      prediction.is_measured = true;
      set_time(prediction, centre(own->times_s), of_as_many(own->times_s));
    }
    return prediction;
  }

  TargetPrediction of_predicted(const Prediction& speed) const
  {
    TargetPrediction prediction{.at = speed.at,
                                .samples = samples_.at(speed.at),
                                .throughput = speed.throughput,
                                .throughput_interval = speed.throughput_interval,
                                .changes = speed.changes};
    join(prediction, speed.is_identified);
    return prediction;
  }

  void join(TargetPrediction& prediction, bool is_speed_identified) const
  {
    const auto& samples = prediction.samples;
    const auto& speed = prediction.throughput_interval;
    if (!std::isfinite(samples.samples) || !std::isfinite(speed.low)) return;
    const double time_s = pauses_.factor * samples.samples / prediction.throughput;
    const double low = joined(samples.interval.low / samples.samples, speed.high / prediction.throughput, pauses_.change);
    const double high = joined(samples.interval.high / samples.samples, speed.low / prediction.throughput, pauses_.change);
    set_time(prediction, time_s, {time_s / low, time_s * high});
    prediction.is_identified = samples.is_identified && is_speed_identified;
    if (!prediction.is_identified) prediction.time_s = prediction.node_hours = not_measured;
  }

  static void set_time(TargetPrediction& prediction, double time_s, Interval interval)
  {
    prediction.time_s = time_s;
    prediction.interval = interval;
    prediction.node_hours = time_s * static_cast<double>(prediction.at.nodes) / 3600;
    prediction.is_identified = true;
  }

  const SeriesMeasurements& speed_;
  const TargetSeries& target_;
  const std::optional<CostModel>& network_;
  Samples samples_;
  Pauses pauses_;
};

// Predicts each size from the third on from the smaller ones, if the study has samples and times of the same runs.
std::vector<TargetBacktest> backtests_of(const SeriesMeasurements& speed, const TargetSeries& target,
                                         const std::optional<CostModel>& network)
{
  std::vector<TargetBacktest> backtests;
  if (!target.tells_time) return backtests;
  for (std::size_t from = 2; from < speed.sizes.size(); ++from) {
    const auto& at = speed.sizes[from].at;
    const auto* own = target.find(at.ranks);
    if (own == nullptr || !all_finite(own->times_s)) continue;
    auto before = speed;
    before.sizes.resize(from);
    std::vector<StepSamples> steps;
    for (const auto& one : before.sizes)
      steps.push_back({static_cast<double>(one.at.workers), static_cast<double>(one.at.workers) * one.at.batch});
    before.traits.batches = batch_rule(speed.traits.batches.is_weak() ? "weak" : "strong", steps);
    auto known = target;
    std::erase_if(known.sizes, [&](const TargetSize& one) { return one.ranks >= at.ranks; });
    const std::vector<std::int64_t> asked{at.size};
    const auto prediction = Joined(before, known, network).at(asked).front();
    if (!std::isfinite(prediction.interval.low)) continue; // no law
    const double predicted =
        std::isfinite(prediction.time_s) ? prediction.time_s : std::sqrt(prediction.interval.low * prediction.interval.high);
    const double measured = centre(own->times_s);
    backtests.push_back({.size = at.size,
                         .from_sizes = static_cast<std::int64_t>(from),
                         .predicted = predicted,
                         .measured = measured,
                         .interval = prediction.interval,
                         .error = error_of(predicted, measured),
                         .is_identified = prediction.is_identified});
  }
  return backtests;
}

// Looks at the smallest size times powers of two, up to `reach` times the largest measured size.
Worth worth_within(std::int64_t reach, const SeriesMeasurements& speed, const Joined& joined)
{
  const auto smallest = speed.sizes.front().at.size, largest = speed.sizes.back().at.size;
  const auto last = speed.sizes.size() > 1 ? reach * largest : largest; // one size predicts no other
  std::vector<std::int64_t> sizes;
  for (auto size = smallest; size <= last; size *= 2)
    if (size_of(speed.traits, size).workers > 0) sizes.push_back(size);
  Worth worth{.size = smallest};
  const auto times = joined.at(sizes);
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    worth.size = times[i].at.size;
    worth.batch = times[i].at.batch * static_cast<double>(times[i].at.workers);
    if (!std::isfinite(times[i].time_s) || !std::isfinite(times[i + 1].time_s)) return worth;
    if (times[i + 1].time_s > (1 - least_saving) * times[i].time_s) {
      worth.state = Worth::State::found;
      return worth;
    }
  }
  if (times.size() > 1) worth.state = Worth::State::farther;
  return worth;
}

// The replay of large sizes takes longest, and most series are decided before.
Worth worth_of(const SeriesMeasurements& speed, const Joined& joined)
{
  const auto near = worth_within(nearest_look, speed, joined);
  return near.state == Worth::State::farther ? worth_within(farthest_look, speed, joined) : near;
}

} // namespace

const TargetSize* TargetSeries::find(std::int64_t ranks) const
{
  const auto found = std::ranges::find(sizes, ranks, &TargetSize::ranks);
  return found == sizes.end() ? nullptr : &*found;
}

std::vector<TargetSeries> target_series(std::span<const Run> runs)
{
  std::map<std::string, TargetSeries> all;
  std::set<std::string> unlike; // series with several targets
  for (const auto& run : runs) {
    if (run.is_control || !run.succeeded || !run.has_target()) continue;
    auto& series = all[run.series];
    series.series = run.series;
    if (series.target > 0 && series.target != run.target_accuracy) unlike.insert(run.series);
    series.target = run.target_accuracy;
    auto at = std::ranges::find_if(series.sizes, [&](const TargetSize& one) { return one.ranks >= run.ranks; });
    if (at == series.sizes.end() || at->ranks != run.ranks) at = series.sizes.insert(at, {.ranks = run.ranks});
    at->batch = static_cast<double>(run.global_batch);
    const bool reached = run.has_trained() && run.time_to_accuracy_s > 0 && run.samples_to_accuracy > 0;
    constexpr double missed = std::numeric_limits<double>::infinity();
    at->samples.push_back(reached ? run.samples_to_accuracy : missed);
    at->times_s.push_back(reached ? run.time_to_accuracy_s : missed);
    at->throughputs.push_back(run.throughput);
  }
  std::vector<TargetSeries> sorted;
  for (auto& [name, series] : all)
    if (!unlike.contains(name)) sorted.push_back(std::move(series));
  return sorted;
}

bool follows_samples_law(const SeriesTraits& traits)
{
  return traits.is_own_program || (strategy_row(traits.strategy).keeps_equal && traits.node_period == 1);
}

TargetForecast forecast_target(const SeriesMeasurements& speed, const TargetSeries& target, std::span<const std::int64_t> sizes,
                               const std::optional<CostModel>& network)
{
  const bool any_reached = std::ranges::any_of(target.sizes, [](const TargetSize& size) { return all_finite(size.samples); });
  if (!any_reached)
    throw Error(ErrorKind::usage,
                fmt::format("{} has no size of which every run reached its target, so how many samples it needs is not known. "
                            "Train longer (train.epochs), or lower train.target_accuracy",
                            target.series.empty() ? "the study" : target.series));
  if (speed.sizes.empty())
    throw Error(ErrorKind::usage, fmt::format("{} has no run with a throughput and the times of its ranks",
                                              speed.series.empty() ? "the study" : speed.series));
  const Joined joined(speed, target, network);
  return {.law = joined.law(),
          .has_law = follows_samples_law(speed.traits),
          .pauses = joined.pauses(),
          .predictions = joined.at(sizes),
          .backtests = backtests_of(speed, target, network),
          .worth = worth_of(speed, joined)};
}

} // namespace dt::store
