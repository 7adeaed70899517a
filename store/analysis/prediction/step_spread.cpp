#include "store/analysis/prediction/step_spread.hpp"

#include "store/analysis/statistics/distributions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace dt::store {
namespace {

constexpr double least_worker_factor = 0.2;

double normal_score(double level) { return student_t_quantile(level, std::numeric_limits<double>::infinity()); }

// A known quantile: normal score and logarithm of the factor.
struct Knot {
  double score, log_factor;
};

// Quantiles that fall, because of rounding or few steps, are lifted to the one below.
std::array<Knot, 4> knots_of(const StepSpread& spread)
{
  const double last = 1 - 0.5 / std::max(spread.steps, 100.0);
  std::array<Knot, 4> knots{Knot{0, std::log(spread.p50)}, Knot{normal_score(0.95), std::log(spread.p95)},
                            Knot{normal_score(0.99), std::log(spread.p99)}, Knot{normal_score(last), std::log(spread.max)}};
  for (std::size_t k = 1; k < knots.size(); ++k) knots[k].log_factor = std::max(knots[k].log_factor, knots[k - 1].log_factor);
  return knots;
}

double log_factor_at(const std::array<Knot, 4>& knots, double score)
{
  if (score <= 0) return knots[0].log_factor + score * (knots[1].log_factor - knots[0].log_factor) / knots[1].score;
  for (std::size_t k = 1; k < knots.size(); ++k)
    if (score < knots[k].score) {
      const double share = (score - knots[k - 1].score) / (knots[k].score - knots[k - 1].score);
      return std::lerp(knots[k - 1].log_factor, knots[k].log_factor, share);
    }
  return knots.back().log_factor;
}

double level_of(std::size_t k, std::size_t count) { return (static_cast<double>(k) + 0.5) / static_cast<double>(count); }

void scale_to_mean_one(std::vector<double>& factors)
{
  const double mean = std::accumulate(factors.begin(), factors.end(), 0.0) / static_cast<double>(factors.size());
  for (auto& factor : factors) factor /= mean;
}

} // namespace

std::vector<double> step_factors(const StepSpread& spread, std::size_t count)
{
  const auto knots = knots_of(spread);
  std::vector<double> factors(count);
  for (std::size_t k = 0; k < count; ++k) factors[k] = std::exp(log_factor_at(knots, normal_score(level_of(k, count))));
  scale_to_mean_one(factors);
  return factors;
}

std::vector<double> worker_factors(const StepSpread& spread, std::size_t workers)
{
  std::vector<double> factors(workers, 1);
  if (!(spread.of_workers > 0) || workers < 2) return factors;
  for (std::size_t w = 0; w < workers; ++w)
    factors[w] = std::max(least_worker_factor, 1 + spread.of_workers * normal_score(level_of(w, workers)));
  scale_to_mean_one(factors);
  return factors;
}

} // namespace dt::store
