#include "core/maths/noise_scale.hpp"
#include "core/maths/random.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>

using namespace dt;

namespace {

constexpr std::size_t numbers = 20;

// Gaussian gradients with mean 1 in each number.
struct Truth {
  double deviation = 1; // of the gradient of one sample, in each number
  double noise_scale() const { return deviation * deviation; }
};

// The squares of one step of `parts` workers with `samples` each.
std::array<double, 2> step_of(const Truth& truth, std::size_t parts, double samples, Random& random)
{
  std::array<double, numbers> sum{};
  double small = 0, large = 0;
  for (std::size_t part = 0; part < parts; ++part)
    for (auto& number : sum) {
      const double gradient = 1 + truth.deviation / std::sqrt(samples) * static_cast<double>(random.normal());
      small += gradient * gradient;
      number += gradient;
    }
  for (const double number : sum) large += number * number;
  const auto count = static_cast<double>(parts);
  return {small / count, large / (count * count)};
}

NoiseScale estimate(const Truth& truth, std::size_t parts, int steps, std::uint64_t seed)
{
  constexpr double samples = 8;
  Random random(seed);
  NoiseScaleEstimator estimator(samples, samples * static_cast<double>(parts));
  for (int step = 0; step < steps; ++step) {
    const auto [small, large] = step_of(truth, parts, samples, random);
    estimator.add(small, large);
  }
  return estimator.estimate();
}

} // namespace

TEST_CASE("the noise scale of gaussian gradients is the trace of their covariance over the square of their mean")
{
  for (const double deviation : {1.0, 5.0, 10.0})
    for (const std::size_t parts : {2U, 4U}) {
      CAPTURE(deviation, parts);
      const Truth truth{deviation};
      const auto found = estimate(truth, parts, 20'000, 3);
      CHECK(found.value == Approx(truth.noise_scale()).epsilon(0.1));
      CHECK(found.low < found.value);
      CHECK(found.high > found.value);
    }
}

TEST_CASE("intervals of the noise scale contain the truth in about 95 of 100 trainings, also where the noise is large")
{
  struct Row {
    double deviation;
    int steps;
  };
  constexpr int trials = 500;
  for (const auto& [deviation, steps] : {Row{2, 40}, Row{5, 200}, Row{20, 200}}) {
    const Truth truth{deviation};
    int holds = 0, open = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto found = estimate(truth, 4, steps, sub_key(7, static_cast<std::uint64_t>(trial)));
      if (std::isnan(found.high)) ++open;
      if (found.low <= truth.noise_scale() && !(found.high < truth.noise_scale())) ++holds;
    }
    CAPTURE(deviation, steps, holds, open);
    CHECK(holds >= 0.92 * trials);
    CHECK(holds <= 0.98 * trials);
  }
}

TEST_CASE("where the noise hides the gradient, the interval of the noise scale has a lower end only")
{
  int open = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto found = estimate({100}, 2, 64, seed);
    CHECK(found.low >= 0);
    CHECK(found.low < 10'000);
    if (std::isnan(found.high)) ++open;
  }
  CHECK(open >= 18);
}

TEST_CASE("without noise the noise scale is 0, of no steps or infinite ones nothing, and 15 steps give no interval")
{
  NoiseScaleEstimator estimator(1, 2);
  estimator.add(INFINITY, 1);
  estimator.add(1, NAN);
  CHECK(std::isnan(estimator.estimate().value));
  for (int step = 0; step < 15; ++step) estimator.add(4, 4);
  CHECK(estimator.estimate().value == 0);
  CHECK(std::isnan(estimator.estimate().low));
  estimator.add(4, 4);
  CHECK(estimator.estimate().low == 0);
  CHECK(estimator.estimate().high == 0);
}

TEST_CASE("the noise scale follows from all steps, however many there are")
{
  NoiseScaleEstimator estimator(1, 2);
  // The signal 2 G_B - G_b is 1, later 2, and the noise 2 (G_b - G_B) is 2.
  for (int step = 0; step < 1001; ++step) step < 500 ? estimator.add(3, 2) : estimator.add(4, 3);
  CHECK(estimator.estimate().value == Approx(2 * 1001 / (500 * 1.0 + 501 * 2.0)));
}

TEST_CASE("a point of the noise scale's curve is made of the steps since the point before, of at least 16")
{
  NoiseScaleEstimator estimator(1, 2);
  for (int step = 0; step < 20; ++step) {
    if (step < 16) CHECK(std::isnan(estimator.recent()));
    estimator.add(3, 2);
  }
  CHECK(estimator.recent() == 2); // the signal 1, the noise 2
  CHECK(std::isnan(estimator.recent()));
  for (int step = 0; step < 16; ++step) estimator.add(4, 3);
  CHECK(estimator.recent() == 1); // the signal 2
  for (int step = 0; step < 16; ++step) estimator.add(4, 1);
  CHECK(std::isnan(estimator.recent())); // no signal: not a number, and the steps do not count again
  for (int step = 0; step < 16; ++step) estimator.add(3, 2);
  CHECK(estimator.recent() == 2);
}
