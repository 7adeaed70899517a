// Which points of a study need more repeats.
#include "store/analysis/statistics/race.hpp"

#include "core/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace dt;
using namespace dt::store;

namespace {

// `count` runs around `centre` that scatter by a share `cv`.
RacePoint point_of(Random& random, std::string label, std::int64_t size, double centre, double cv, std::int64_t count)
{
  RacePoint point{.label = std::move(label), .ranks = size, .values = {}};
  for (std::int64_t i = 0; i < count; ++i) point.values.emplace_back(centre * std::exp(cv * random.normal()));
  return point;
}

// Adds runs to the points that race, from a source of runs, until the race is over.
template<class Draw> Race run_race(std::vector<RacePoint> points, const RaceRule& rule, Draw draw)
{
  while (true) {
    auto race = race_of(points, rule);
    if (race.is_over) return race;
    for (std::size_t i = 0; i < points.size(); ++i)
      while (static_cast<std::int64_t>(points[i].values.size()) < race.standings[i].repeats)
        points[i].values.emplace_back(draw(i));
  }
}

} // namespace

TEST_CASE("the looks grow by 1.4 from the first to the most repeats")
{
  CHECK(looks({.first = 3, .most = 12}) == std::vector<std::int64_t>{3, 5, 7, 10, 12});
  CHECK(looks({.first = 3, .most = 3}) == std::vector<std::int64_t>{3});
  CHECK(looks({.first = 5, .most = 4}) == std::vector<std::int64_t>{4});
}

TEST_CASE("before the first look every point needs the first repeats")
{
  const std::vector<RacePoint> points{{"ring", 4, {}}, {"tree", 4, {1.0, 2.0}}};
  const auto race = race_of(points, {});
  CHECK_FALSE(race.is_over);
  CHECK(race.repeats == 3);
  for (const auto& standing : race.standings) {
    CHECK(standing.is_racing);
    CHECK(standing.repeats == 3);
  }
}

TEST_CASE("a clear winner ends the race at the first look, and losers are told what they lost to")
{
  Random random(1);
  std::vector<RacePoint> points{point_of(random, "ring", 4, 1000, 0.001, 3), point_of(random, "tree", 4, 700, 0.001, 3)};
  const auto race = race_of(points, {});
  CHECK(race.is_over);
  CHECK(race.repeats == 3);
  CHECK(race.standings[0].reason == "the best of 2 at 3 repeats");
  CHECK(race.standings[1].reason.starts_with("worse than ring at 3 repeats: 0.7"));
}

TEST_CASE("a loser gets no more runs while the others race on")
{
  Random random(2);
  std::vector<RacePoint> points{point_of(random, "a", 4, 1000, 0.02, 3), point_of(random, "b", 4, 1000, 0.02, 3),
                                point_of(random, "c", 4, 300, 0.02, 3)};
  const auto race = race_of(points, {.margin = 0.001});
  CHECK_FALSE(race.is_over);
  CHECK(race.standings[0].repeats == 5);
  CHECK(race.standings[1].repeats == 5);
  CHECK_FALSE(race.standings[2].is_racing);
  CHECK(race.standings[2].repeats == 3);
}

TEST_CASE("candidates within the margin are equivalent, and the race is over")
{
  Random random(3);
  std::vector<RacePoint> points{point_of(random, "a", 4, 1000, 0.001, 5), point_of(random, "b", 4, 1001, 0.001, 5)};
  const auto race = race_of(points, {.margin = 0.05});
  CHECK(race.is_over);
  CHECK(race.standings[0].reason.find("equivalent within 5 %") != std::string::npos);
}

TEST_CASE("a race that cannot be decided ends after the most repeats and says so")
{
  Random random(4);
  const RaceRule rule{.margin = 0.001};
  const auto race =
      run_race({{"a", 4, {}}, {"b", 4, {}}}, rule, [&](std::size_t) { return 1000 * std::exp(0.05 * random.normal()); });
  CHECK(race.is_over);
  CHECK(race.repeats == 12);
  CHECK(race.standings[0].reason == "not decided after 12 repeats, the most that are allowed");
}

TEST_CASE("a look uses only its own repeats, so runs that came later do not change it")
{
  Random random(5);
  auto points = std::vector<RacePoint>{point_of(random, "a", 4, 1000, 0.001, 3), point_of(random, "b", 4, 700, 0.001, 3)};
  const auto before = race_of(points, {});
  for (auto& point : points) point.values.resize(12, 1.0); // as if they were equal from then on
  const auto after = race_of(points, {});
  CHECK(after.repeats == before.repeats);
  CHECK(after.standings[1].reason == before.standings[1].reason);
}

TEST_CASE("failed runs leave a point in the race")
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<RacePoint> points{{"a", 4, {1000.0, 1001.0, 999.0}}, {"b", 4, {nan, nan, 500.0}}};
  const auto race = race_of(points, {});
  CHECK_FALSE(race.is_over);
  CHECK(race.standings[1].is_racing);
  CHECK(race.standings[1].repeats == 5);
}

TEST_CASE("a point whose runs have all failed leaves the race at the first look")
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<RacePoint> points{{"a", 4, {1000.0, 1001.0, 999.0}}, {"b", 4, {nan, nan, nan}}};
  const auto race = race_of(points, {});
  CHECK(race.is_over);
  CHECK(race.standings[0].reason == "the best of 2 at 3 repeats");
  CHECK(race.standings[1].reason == "none of its 3 runs has a value");
}

TEST_CASE("sizes of one label race until the efficiency of each is known closely enough, and the smallest as long as any other")
{
  Random random(6);
  std::vector<RacePoint> points{point_of(random, "", 1, 1000, 0.0005, 3), point_of(random, "", 2, 1900, 0.0005, 3),
                                point_of(random, "", 4, 3500, 0.05, 3)};
  const auto race = race_of(points, {.margin = 0.03});
  CHECK_FALSE(race.is_over);
  CHECK(race.standings[0].is_racing);
  CHECK_FALSE(race.standings[1].is_racing);
  CHECK(race.standings[1].reason.starts_with("its efficiency is known within"));
  CHECK(race.standings[2].is_racing);
}

TEST_CASE("points with equally many ranks on other numbers of nodes are no rivals")
{
  Random random(9);
  auto one = point_of(random, "a", 8, 1000, 0.001, 3), other = point_of(random, "b", 8, 700, 0.001, 3);
  other.nodes = 4;
  const std::vector<RacePoint> points{one, other};
  for (const auto& standing : race_of(points, {}).standings) CHECK_FALSE(standing.reason.starts_with("worse than"));
}

TEST_CASE("with times, the shorter one wins, and runs that missed the target count as infinite")
{
  const double missed = std::numeric_limits<double>::infinity();
  Random random(7);
  const RaceRule rule{.better = Better::smaller};
  const auto race = run_race({{"fast", 4, {}}, {"slow", 4, {}}, {"never", 4, {}}}, rule, [&](std::size_t i) {
    return i == 2 ? missed : (i == 0 ? 10 : 20) * std::exp(0.01 * random.normal());
  });
  CHECK(race.is_over);
  CHECK(race.standings[0].reason.starts_with("the best of 3"));
  CHECK(race.repeats > 3); // so few runs that missed could not be told from the others by their ranks
  CHECK(race.standings[1].reason.starts_with("worse than fast"));
  CHECK(race.standings[2].reason.starts_with("worse than"));
}

TEST_CASE("equal candidates are rarely dropped")
{
  Random random(8);
  int false_verdicts = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    const auto race = run_race({{"a", 4, {}}, {"b", 4, {}}, {"c", 4, {}}}, {.margin = 0.001},
                               [&](std::size_t) { return 1000 * std::exp(0.02 * random.normal()); });
    for (const auto& standing : race.standings)
      if (standing.reason.starts_with("worse than")) {
        ++false_verdicts;
        break;
      }
  }
  CHECK(false_verdicts <= trials * 0.05);
}
