// Forecast of the time until the target accuracy: samples at the batch of a size (samples_law.hpp) over throughput at the size
// (forecast.hpp). Pure functions.
#pragma once

#include "store/analysis/prediction/forecast.hpp"
#include "store/analysis/prediction/samples_law.hpp"
#include "store/analysis/statistics/run.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// The succeeded runs of one size that have a target.
struct TargetSize {
  std::int64_t ranks = 0; // also where the study counts nodes: another study may tell the throughput
  double batch = 0;       // samples of a step, of all workers
  // One figure for each run. Samples and time are infinite if the run missed the target.
  std::vector<double> samples{}, times_s{}, throughputs{};
};

struct TargetSeries {
  std::string series;              // label without the size
  double target = 0;               // accuracy, 0..1
  std::vector<TargetSize> sizes{}; // ascending
  // Whether these are the runs that tell the throughput. Those of another study tell the samples, and nothing about the time.
  bool tells_time = true;
  const TargetSize* find(std::int64_t ranks) const;
};

// The series whose runs all have one target of which it is known when it was reached. Controls do not count.
std::vector<TargetSeries> target_series(std::span<const Run> runs);

// Whether the samples of the series follow samples_law: its ranks have the same weights after every step. A program of the user
// is taken for one.
bool follows_samples_law(const SeriesTraits& traits);

struct TargetPrediction {
  StudySize at{};
  SamplesPrediction samples{};
  double throughput = not_measured; // samples/s
  Interval throughput_interval{not_measured, not_measured};
  bool is_speed_measured = false;
  double time_s = not_measured;
  Interval interval{not_measured, not_measured}; // forecast_level
  double node_hours = not_measured;              // time_s on all nodes
  bool is_measured = false;                      // runs of this size tell the time
  std::vector<SizeChange> changes{};             // of a predicted speed: since the largest measured size
  bool is_identified = false;                    // otherwise time_s and node_hours are NaN
};

// A measured size, predicted from smaller ones alone.
struct TargetBacktest {
  std::int64_t size = 0, from_sizes = 0;
  double predicted = 0, measured = 0; // time to the target in seconds
  Interval interval{0, 0};
  double error = 0; // predicted / measured - 1
  bool is_identified = true;
  bool covered() const { return interval.low <= measured && measured <= interval.high; }
};

// From where on more nodes are not worth it.
struct Worth {
  enum class State {
    found,    // twice `size` saves less than a tenth of the time
    farther,  // twice `size`, the largest that was looked at, still saves a tenth or more
    not_known // what comes after `size` is not identified
  };
  State state = State::not_known;
  std::int64_t size = 0;
  double batch = 0; // of a step at this size
};
inline constexpr double least_saving = 0.1; // of the time, by twice the nodes

struct TargetForecast {
  SamplesLaw law{};
  bool has_law = false; // follows_samples_law
  // Time to the target times throughput over samples, at the largest size: what evaluations and the warm-up add.
  double pauses = 1;
  std::vector<TargetPrediction> predictions{}; // of the asked sizes
  std::vector<TargetBacktest> backtests{};
  Worth worth{};
};

// `speed`: the series that tells the throughput, measured or simulated; `target`: the series that tells the samples, which may be
// of another study. Without sizes there are only backtests and `worth`. Throws as forecast(), and Error (usage) if no run of
// `target` reached its target.
TargetForecast forecast_target(const SeriesMeasurements& speed, const TargetSeries& target, std::span<const std::int64_t> sizes,
                               const std::optional<CostModel>& network);

} // namespace dt::store
