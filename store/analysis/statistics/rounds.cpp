#include "store/analysis/statistics/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dt::store {
namespace {

Moments moments_without_nan(std::vector<double> values)
{
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return moments_of(values);
}

double width(Interval interval) { return interval.high - interval.low; }

} // namespace

Rounds::Rounds(std::vector<std::vector<double>> values) : values_(std::move(values)), freedom_(freedom())
{
  double weighted = 0, weight = 0, sum = 0, squares = 0, pairs = 0;
  for (std::size_t a = 0; a < values_.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const auto moments = differences(a, b);
      if (moments.count < least_runs) continue;
      const double variance_freedom = moments.count - 1;
      weighted += moments.variance * variance_freedom;
      weight += variance_freedom;
      sum += moments.variance;
      squares += moments.variance * moments.variance / (1 + 2 / variance_freedom); // its mean is the square of the true variance
      ++pairs;
    }
  if (pairs == 0) return;
  variance_ = weighted / weight;
  const double variation = sum > 0 ? squares * pairs / (sum * sum) - 1 : 0;
  heterogeneity_ = 2 * std::max(0.0, variation) + 0.2 / pairs;
}

Interval Rounds::difference(std::size_t a, std::size_t b, double level) const
{
  if (values_.size() > 2) return confidence_interval(estimate(a, b), level);
  const double half = 1 - (1 - level) / 2;
  const auto paired = confidence_interval(estimate(a, b), half);
  const auto welch =
      confidence_interval(difference_of_means(moments_without_nan(values_[a]), moments_without_nan(values_[b])), half);
  return width(welch) < width(paired) ? welch : paired;
}

Estimate Rounds::estimate(std::size_t a, std::size_t b) const
{
  const auto moments = differences(a, b);
  if (moments.count < least_runs) return {moments.mean, nan, nan};
  const double own_freedom = moments.count - 1;
  const double credibility = heterogeneity_ / (heterogeneity_ + 2 * (1 + heterogeneity_) / own_freedom);
  const double variance = std::max(variance_, credibility * moments.variance + (1 - credibility) * variance_);
  if (variance == 0) return {moments.mean, 0, std::numeric_limits<double>::infinity()};
  return {moments.mean, std::sqrt(variance / moments.count), 1 / (credibility / own_freedom + (1 - credibility) / freedom_)};
}

// Of the rounds that have both.
Moments Rounds::differences(std::size_t a, std::size_t b) const
{
  std::vector<double> differences;
  for (std::size_t round = 0; round < std::min(values_[a].size(), values_[b].size()); ++round)
    differences.push_back(values_[a][round] - values_[b][round]);
  return moments_without_nan(std::move(differences));
}

// Of the table's residuals: values less candidates less rounds plus 1, without the rounds that have a single value.
double Rounds::freedom() const
{
  std::size_t rounds = 0;
  for (const auto& values : values_) rounds = std::max(rounds, values.size());
  std::vector<bool> takes_part(values_.size());
  double cells = 0, used_rounds = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (round < values_[i].size() && !std::isnan(values_[i][round])) present.push_back(i);
    if (present.size() < 2) continue;
    ++used_rounds;
    cells += static_cast<double>(present.size());
    for (const auto i : present) takes_part[i] = true;
  }
  return std::max(1.0, cells - static_cast<double>(std::count(takes_part.begin(), takes_part.end(), true)) - used_rounds + 1);
}

} // namespace dt::store
