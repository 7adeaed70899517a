// Forecast: throughput, efficiency and cost of sizes that were not measured, each with an interval, and the backtests of the same
// model on the sizes that were. Pure functions.
#pragma once

#include "store/analysis/prediction/calibration.hpp"
#include "store/analysis/prediction/profile.hpp"
#include "store/analysis/prediction/size_changes.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <optional>
#include <span>
#include <vector>

namespace dt::store {

// The share of intervals that should contain the measured value.
inline constexpr double forecast_level = 0.8;
// If fits that agree with the measurements differ by more than this factor in a size's throughput, the measured sizes do not
// identify it.
inline constexpr double most_open = 1.5;

struct Prediction {
  StudySize at;
  double throughput = not_measured; // samples/s
  Interval throughput_interval{not_measured, not_measured};
  double efficiency = not_measured; // relative to the smallest measured size, per worker
  Interval efficiency_interval{not_measured, not_measured};
  PredictedStep step{};
  double time_s = not_measured;      // of the whole training, without evaluations
  double node_hours = not_measured;  // time_s on all nodes
  bool is_identified = true;         // otherwise only the intervals say something; the other figures are those of the best fit
  std::vector<Parameter> open{};     // parameters that the measured sizes leave open, and that widen the interval
  std::int64_t measure = 0;          // the smallest size whose measurement would close them; 0: none are open
  std::vector<SizeChange> changes{}; // since the largest measured size
};

// A measured size, predicted from smaller ones alone.
struct Backtest {
  std::int64_t size = 0, from_sizes = 0; // number of smaller sizes that it was predicted from
  double predicted = 0, measured = 0;    // throughput in samples/s
  Interval interval{0, 0};               // of the prediction, with what was known from earlier backtests
  double error = 0;                      // predicted / measured - 1
  bool borrowed_link = false;            // the link was fitted to this size's own times of communication alone
  bool is_past_knee = false;             // something saturates, or messages pass a network or a trunk, for the first time
  bool is_from_before_knee = false;      // it leaves out all sizes past the knee, not only this one and larger ones
  bool is_identified = true;             // as in Prediction
  bool covered() const { return interval.low <= measured && measured <= interval.high; }
};

struct Forecast {
  Calibration calibration;
  std::vector<Backtest> backtests{}; // by size
  std::vector<Prediction> predictions{};
};

// All backtests of the series: each size but the smallest, from all smaller ones. Where a measured size is the first past a knee
// (is_past_knee), also each size beyond it, from the sizes before the knee. Without a size below it there is none.
std::vector<Backtest> backtests_of(const SeriesMeasurements& series, const std::optional<CostModel>& network);

// Predicts the sizes (nodes or ranks, as the study counts). The interval of the logarithm is
//
//   ± t(0.9, n + 1) sqrt(s² (1/k + 1/k0) + τ² d),  τ² = (τ0² + Σ e²/d) / (n + 1)
//
// s² is the variance between repeats, k the repeats of the largest measured size, k0 those that the predicted size will have (as
// many), d the doublings from the largest measured size (at least 1), e the error and d the doublings of each of n backtests, and
// τ0 = 5%, so that one backtest that is right by chance does not promise a perfect model. Backtests from a single size count only
// if there are no others, because one size cannot tell fixed from growing costs. Those across several sizes beyond a knee count
// for predictions past a knee.
//
// Around the prediction of every fit that agrees with the measurements (possible_fits) lies such an interval, shorter by
// sqrt(1 - misfit / most_misfit); the interval is their union, which is a profile of the predictive likelihood [Bjornstad1990].
//
// Throws Error (usage) if fewer than two sizes were measured and no network is given, or if a size has no worker
// or more than a million.
Forecast forecast(const SeriesMeasurements& series, std::span<const std::int64_t> sizes, const std::optional<CostModel>& network);

// The relative error of a prediction, predicted / measured - 1: 0.1 is 10 % too high.
double error_of(double predicted, double measured);

// The size, of powers of two times the largest measured size up to `most`, whose prediction has the widest interval and is not
// far away (far_beyond): measuring it tells most about the model. 0 if there is none.
std::int64_t most_informative_size(const SeriesMeasurements& series, const std::optional<CostModel>& network, std::int64_t most);

} // namespace dt::store
