#include "store/analysis/prediction/samples_law.hpp"

#include "store/analysis/prediction/forecast.hpp"
#include "store/analysis/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::store {
namespace {

constexpr double same_batch = 1.05;
constexpr double usual_error = 0.08, usual_freedom = 5; // σ0, and for how many backtests it counts
constexpr double contradiction = 0.01;                  // a lack of fit that is less likely
constexpr double farthest_backtest = 4.5;               // times the largest batch before it

bool are_same(double a, double b) { return std::max(a, b) < same_batch * std::min(a, b); }

std::vector<BatchRuns> joined(std::vector<BatchRuns> runs)
{
  std::ranges::sort(runs, {}, &BatchRuns::batch);
  std::vector<BatchRuns> batches;
  for (auto& one : runs) {
    if (!(one.batch > 0) || one.samples.empty()) continue;
    if (!batches.empty() && are_same(batches.back().batch, one.batch))
      batches.back().samples.insert(batches.back().samples.end(), one.samples.begin(), one.samples.end());
    else
      batches.push_back(std::move(one));
  }
  return batches;
}

// Takes out the batches with a run that missed the target, and returns them.
std::vector<double> take_out_missed(std::vector<BatchRuns>& batches)
{
  std::vector<double> missed;
  std::erase_if(batches, [&](const BatchRuns& one) {
    const bool has_miss = std::ranges::any_of(one.samples, [](double value) { return !std::isfinite(value); });
    if (has_miss) missed.push_back(one.batch);
    return has_miss;
  });
  return missed;
}

// Reads what the runs tell, batch by batch.
void take(SamplesLaw& law, std::span<const BatchRuns> batches)
{
  double squares = 0;
  for (const auto& [batch, samples] : batches) {
    const auto logs = log_moments(samples);
    if (logs.count > 1) {
      squares += (logs.count - 1) * logs.variance;
      law.run_freedom += logs.count - 1;
    }
    law.known.push_back({batch, logs.mean, 1 / logs.count}); // times run_variance
  }
  if (law.run_freedom > 0) law.run_variance = squares / law.run_freedom;
  for (auto& point : law.known) point.variance *= law.run_variance;
}

// Least squares of (S0 + slope B) / y - 1 with 1/v as weights. Neither unknown may be negative.
void fit(SamplesLaw& law)
{
  double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  for (const auto& point : law.known) {
    const double weight = 1 / (point.variance + law.model_variance);
    const double a = std::exp(-point.log_mean), b = point.batch * a;
    aa += weight * a * a;
    ab += weight * a * b;
    bb += weight * b * b;
    a1 += weight * a;
    b1 += weight * b;
  }
  const double determinant = aa * bb - ab * ab;
  law.samples0 = (bb * a1 - ab * b1) / determinant;
  law.slope = (aa * b1 - ab * a1) / determinant;
  law.variance0 = bb / determinant;
  law.variance1 = aa / determinant;
  law.covariance = -ab / determinant;
  if (law.slope < 0) {
    law.slope = 0;
    law.samples0 = a1 / aa;
  }
  if (law.samples0 < 0) {
    law.samples0 = 0;
    law.slope = b1 / bb;
  }
  law.critical_batch = law.slope > 0 ? law.samples0 / law.slope : std::numeric_limits<double>::infinity();
}

double law_at(const SamplesLaw& law, double batch) { return law.samples0 + law.slope * batch; }

bool is_contradicted(const SamplesLaw& law)
{
  double lack = 0;
  for (const auto& point : law.known) {
    const double off = law_at(law, point.batch) / std::exp(point.log_mean) - 1;
    lack += off * off / (point.variance + law.model_variance);
  }
  const int unknowns = (law.samples0 > 0 ? 1 : 0) + (law.slope > 0 ? 1 : 0);
  const auto freedom = static_cast<double>(law.known.size()) - unknowns;
  return freedom > 0 && chi_square_upper_p(lack, freedom) < contradiction;
}

// The critical batches of the two laws whose slopes are the ends of the slope's interval. S0 moves along with the slope.
Interval critical_batches(const SamplesLaw& law)
{
  const double half = student_t_quantile((1 + forecast_level) / 2, law.freedom) * std::sqrt(law.variance1);
  const auto at = [&](double slope) {
    const double samples0 = law.samples0 + law.covariance / law.variance1 * (slope - law.slope);
    return slope <= 0 ? std::numeric_limits<double>::infinity() : std::max(0.0, samples0) / slope;
  };
  return {at(law.slope + half), at(law.slope - half)};
}

SamplesPrediction with_interval(double samples, double log_variance, double freedom)
{
  const double half = student_t_quantile((1 + forecast_level) / 2, freedom) * std::sqrt(log_variance);
  return {.samples = samples, .interval = {samples * std::exp(-half), samples * std::exp(half)}};
}

// How large the errors of the law were in the backtests that were made before.
struct LawError {
  double squares = 0, tests = 0; // squares: of the errors in units of what was expected
};

SamplesLaw law_of(std::span<const BatchRuns> batches, const LawError& error)
{
  SamplesLaw law;
  take(law, batches);
  law.freedom = usual_freedom + error.tests;
  law.model_variance = usual_error * usual_error * (usual_freedom + error.squares) / law.freedom;
  if (law.known.empty()) return law;
  law.state = SamplesLaw::State::one_batch;
  if (law.known.size() < 2) return law;
  fit(law);
  law.critical_batch_interval = critical_batches(law);
  law.state = is_contradicted(law) ? SamplesLaw::State::contradicted : SamplesLaw::State::fits;
  return law;
}

SamplesBacktest backtest(const SamplesLaw& before, const BatchRuns& tested)
{
  const auto predicted = before.at(tested.batch);
  const double measured = std::exp(log_moments(tested.samples).mean);
  return {.batch = tested.batch,
          .from_batches = before.known.size(),
          .predicted = predicted.samples,
          .measured = measured,
          .interval = predicted.interval,
          .error = error_of(predicted.samples, measured),
          .is_identified = predicted.is_identified};
}

void add(LawError& error, const SamplesBacktest& test, double freedom)
{
  const double half = std::log(test.interval.high / test.predicted) / student_t_quantile((1 + forecast_level) / 2, freedom);
  const double off = std::log1p(test.error) / half;
  error.squares += off * off;
  ++error.tests;
}

} // namespace

SamplesPrediction SamplesLaw::at(double batch) const
{
  const auto point = std::ranges::find_if(known, [&](const Known& one) { return are_same(one.batch, batch); });
  if (point != known.end()) { // of as many runs as it has
    auto prediction = with_interval(std::exp(point->log_mean), 2 * point->variance, std::max(1.0, run_freedom));
    prediction.is_measured = prediction.is_identified = true;
    return prediction;
  }
  if (state != State::fits || known.empty()) return {};
  const double samples = law_at(*this, batch);
  const double of_law = (variance0 + 2 * batch * covariance + batch * batch * variance1) / (samples * samples);
  auto prediction = with_interval(samples, of_law + model_variance + known.back().variance, freedom);
  // Larger batches never need fewer samples.
  if (batch > known.back().batch) {
    const auto largest = at(known.back().batch);
    prediction.interval.low = std::max(prediction.interval.low, std::min(largest.interval.low, samples));
  }
  prediction.is_identified = prediction.interval.high <= most_open_samples * prediction.interval.low;
  return prediction;
}

SamplesLaw samples_law(std::vector<BatchRuns> runs)
{
  auto batches = joined(std::move(runs));
  auto missed = take_out_missed(batches);
  std::vector<SamplesBacktest> backtests;
  LawError error;
  for (std::size_t count = 2; count < batches.size(); ++count) {
    const auto before = law_of(std::span(batches).first(count), error);
    if (before.state != SamplesLaw::State::fits) continue;
    for (std::size_t tested = count; tested < batches.size(); ++tested) {
      if (batches[tested].batch > farthest_backtest * batches[count - 1].batch) break;
      backtests.push_back(backtest(before, batches[tested]));
      // The errors of one law at several batches are not independent, so only that at its next batch counts.
      if (tested == count) add(error, backtests.back(), before.freedom);
    }
  }
  auto law = law_of(batches, error);
  law.missed = std::move(missed);
  law.backtests = std::move(backtests);
  std::ranges::stable_sort(law.backtests, {}, &SamplesBacktest::batch);
  return law;
}

} // namespace dt::store
