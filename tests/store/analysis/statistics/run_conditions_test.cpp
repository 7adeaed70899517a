#include "store/analysis/statistics/run_conditions.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

// Points with so many repeats each, measured in rounds, 10 s for each run. `factor` changes the throughput of a run by its place.
template<class Factor>
std::vector<SpeedRun> study(std::size_t points, std::int64_t repeats, double noise, std::uint64_t seed, Factor factor)
{
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<SpeedRun> runs;
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t point = 0; point < points; ++point) {
      const auto place = runs.size();
      const double throughput = 100 * static_cast<double>(point + 1) * std::exp(noise * normal(random)) * factor(place, random);
      runs.push_back({point, repeat, 1e9 + 10 * static_cast<double>(place), throughput});
    }
  return runs;
}

double steady(std::size_t, std::mt19937_64&) { return 1; }

std::size_t count_of(const std::vector<bool>& flags)
{
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
}

} // namespace

TEST_CASE("repeats that follow each other in time are rounds, and one point after the other is not")
{
  auto runs = study(3, 4, 0.02, 1, steady);
  CHECK(are_in_rounds(runs));
  auto apart = runs;
  for (auto& run : apart) run.begin_unix_s = 1e9 + 100 * static_cast<double>(run.point) + static_cast<double>(run.repeat);
  CHECK_FALSE(are_in_rounds(apart));
  runs[5].begin_unix_s = std::nan("");
  CHECK_FALSE(are_in_rounds(runs));
  runs[5].throughput = std::nan(""); // it was not measured, so its begin does not matter
  CHECK(are_in_rounds(runs));
  CHECK_FALSE(are_in_rounds(study(3, 1, 0.02, 1, steady)));
  CHECK_FALSE(are_in_rounds({}));
}

TEST_CASE("a run that is far from the others of its point is an outlier, and hardly ever another one")
{
  std::size_t found = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto runs = study(6, 3, 0.02, seed, steady);
    others += count_of(outlying_runs(runs));
    runs[7].throughput *= 0.7;
    found += outlying_runs(runs)[7] ? 1 : 0;
  }
  CHECK(found > 190);
  CHECK(others < 10);
}

TEST_CASE("runs that are far from each other everywhere are no outliers")
{
  const auto two_speeds = study(6, 5, 0.001, 1, [](std::size_t, auto& random) { return random() % 3 == 0 ? 0.8 : 1.0; });
  CHECK(count_of(outlying_runs(two_speeds)) == 0);
  CHECK(count_of(outlying_runs(study(1, 3, 0.02, 1, steady))) == 0); // too few to know the scatter
}

TEST_CASE("a trend over the order of the runs is found with its size, and seldom where there is none")
{
  std::size_t found = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto drifting =
        study(6, 5, 0.02, seed, [](std::size_t place, auto&) { return 1 - 0.1 * static_cast<double>(place) / 29; });
    if (const auto trend = trend_of(drifting, {})) {
      ++found;
      CHECK(trend->change == Approx(-0.1).margin(0.06));
    }
    others += trend_of(study(6, 5, 0.02, seed, steady), {}) ? 1 : 0;
  }
  CHECK(found > 150);
  CHECK(others < 8); // 1 % of 200, and chance
}

TEST_CASE("a machine with two speeds is told from one that scatters")
{
  std::size_t found = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto two = study(4, 6, 0.008, seed, [](std::size_t, auto& random) { return random() % 2 == 0 ? 0.95 : 1.0; });
    if (const auto speeds = two_speeds_of(two, {})) {
      ++found;
      CHECK(speeds->ratio == Approx(0.95).margin(0.02));
      CHECK(speeds->of == 24);
    }
    others += two_speeds_of(study(4, 6, 0.02, seed, steady), {}) ? 1 : 0;
  }
  CHECK(found > 40);
  CHECK(others < 4);
}

TEST_CASE("throughputs that were rounded are no outliers and have no two speeds")
{
  const auto with = [](const std::vector<double>& values) {
    std::vector<SpeedRun> runs;
    for (std::size_t i = 0; i < values.size(); ++i)
      runs.push_back({i % 2, static_cast<std::int64_t>(i / 2), static_cast<double>(i + 1), values[i]});
    return runs;
  };
  const auto whole = with({10, 10, 10, 10, 11, 10, 10, 11, 10, 10});
  CHECK(rounding_of(whole) == 1);
  CHECK(count_of(outlying_runs(whole)) == 0);
  CHECK_FALSE(two_speeds_of(whole, {}));
  CHECK(*rounding_of(with({1.5, 1.6, 1.5, 1.4})) == Approx(0.1));
  CHECK(rounding_of(with({1200, 1300, 1200, 1200})) == 100);
  CHECK_FALSE(rounding_of(with({1003, 998, 1001, 1010})));       // they differ by many units
  CHECK_FALSE(rounding_of(with({10.013, 10.151, 9.97, 10.06}))); // and here
  CHECK_FALSE(rounding_of(with({10, 10, 10, 10})));              // nothing scatters
  CHECK_FALSE(rounding_of(with({10, 11, 10})));
  const auto slow = with({10, 10, 10, 10, 10, 5, 10, 10, 11, 10});
  CHECK(count_of(outlying_runs(slow)) <= 1);
}
