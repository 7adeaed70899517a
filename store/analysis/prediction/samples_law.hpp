// How many samples a training needs until its target, by the samples of a step. Pure functions over numbers.
//
// The law [McCandlish2018, equation 2.11], for training that sums the gradients of a step and whose learning rate suits each
// batch:
//
//   S(B) = S0 (1 + B / Bc)
//
// S0 samples would do with very small batches; at the critical batch Bc they are twice as many.
#pragma once

#include "core/record/field.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// The runs with one batch.
struct BatchRuns {
  double batch = 0;            // samples of a step, of all workers
  std::vector<double> samples; // of each run until the target; infinite: it missed the target
};

struct SamplesPrediction {
  double samples = not_measured;
  Interval interval{not_measured, not_measured}; // forecast_level
  bool is_measured = false;                      // runs with this batch tell it; otherwise the law
  // False: the interval is so wide that the figure says nothing (most_open_samples), or there is no law.
  bool is_identified = false;
};

// A measured batch, predicted from smaller ones.
struct SamplesBacktest {
  double batch = 0;
  std::size_t from_batches = 0;
  double predicted = 0, measured = 0;
  Interval interval{0, 0};
  double error = 0; // predicted / measured - 1
  bool is_identified = true;
  bool covered() const { return interval.low <= measured && measured <= interval.high; }
};

// If the ends of an interval differ by more than this factor, the measured batches do not tell the samples.
inline constexpr double most_open_samples = 4;

// The law that was fitted to measured batches by least relative errors. Each batch counts by
//
//   v = s²/n + σ²
//
// s² is the variance of one run's logarithm, n the number of runs, σ what the law and the tuning of a batch are off. σ² is
// (5 · 0.08² + Σ z² σ0²) / (5 + n), of which z is the error of each of n backtests in units of what was expected.
struct SamplesLaw {
  enum class State {
    fits,
    one_batch,    // samples are known at the one measured batch, and only there
    contradicted, // the measured batches do not follow the law
    no_runs       // no batch of which all runs reached the target
  };
  State state = State::no_runs;
  double samples0 = not_measured;       // S0
  double critical_batch = not_measured; // Bc; infinite: more samples a step cost nothing
  Interval critical_batch_interval{not_measured, not_measured};
  std::vector<double> missed{};             // batches that runs missed the target with; the law leaves them out
  std::vector<SamplesBacktest> backtests{}; // by batch

  // The samples until the target with this batch: those of its runs (of a batch within 5 %), or of the law.
  SamplesPrediction at(double batch) const;

  struct Known {
    double batch, log_mean, variance; // variance: of the mean, without σ²
  };
  std::vector<Known> known{};                          // ascending
  double run_variance = 0, run_freedom = 0;            // s² and its degrees of freedom
  double model_variance = 0, freedom = 0;              // σ² and its degrees of freedom
  double slope = 0;                                    // S0 / Bc
  double variance0 = 0, covariance = 0, variance1 = 0; // of S0 and of the slope
};

// `runs`: any order; runs of batches that differ by less than 5 % count as one batch.
SamplesLaw samples_law(std::vector<BatchRuns> runs);

} // namespace dt::store
