// Which points of a study need more repeats.
#include "store/analysis/statistics/race.hpp"

#include "core/maths/random.hpp"
#include "tests/support/simulated_race.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace dt;
using namespace dt::store;
using namespace dt::test;

namespace {

// `count` runs around `centre` that scatter by a share `cv`.
RacePoint point_of(Random& random, std::string label, std::int64_t size, double centre, double cv, std::int64_t count)
{
  RacePoint point{.label = std::move(label), .ranks = size, .values = {}};
  for (std::int64_t i = 0; i < count; ++i) point.values.emplace_back(centre * std::exp(cv * random.normal()));
  return point;
}

// Candidates that are equal, on a machine of this kind: whether the race dropped one.
bool drops_an_equal(MachineKind kind, std::size_t candidates, std::size_t sizes, Draws& draws)
{
  auto points = rivals(candidates, sizes);
  const RaceRule rule;
  SimulatedMachine machine(kind, false, points.size() * static_cast<std::size_t>(rule.most), draws);
  const auto race = run_race(points, rule, draws, [&](std::size_t i) { return 1000 * machine.next(i % candidates); });
  return std::any_of(race.standings.begin(), race.standings.end(),
                     [](const RaceStanding& standing) { return standing.reason.starts_with("worse than"); });
}

void check_same(const Race& a, const Race& b)
{
  CHECK(a.is_over == b.is_over);
  CHECK(a.repeats == b.repeats);
  REQUIRE(a.standings.size() == b.standings.size());
  for (std::size_t i = 0; i < a.standings.size(); ++i) {
    CHECK(a.standings[i].is_racing == b.standings[i].is_racing);
    CHECK(a.standings[i].repeats == b.standings[i].repeats);
    CHECK(a.standings[i].reason == b.standings[i].reason);
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
  Draws draws(4);
  auto points = rivals(2, 1);
  const auto race =
      run_race(points, {.margin = 0.001}, draws, [&](std::size_t) { return 1000 * std::exp(0.05 * draws.normal()); });
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

TEST_CASE("failed runs leave a point in the race, and one whose runs have all failed leaves it at the first look")
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<RacePoint> points{{"a", 4, {1000.0, 1001.0, 999.0}}, {"b", 4, {nan, nan, 500.0}}};
  const auto race = race_of(points, {});
  CHECK_FALSE(race.is_over);
  CHECK(race.standings[1].is_racing);
  CHECK(race.standings[1].repeats == 5);
  const std::vector<RacePoint> none{{"a", 4, {1000.0, 1001.0, 999.0}}, {"b", 4, {nan, nan, nan}}};
  const auto over = race_of(none, {});
  CHECK(over.is_over);
  CHECK(over.standings[0].reason == "the best of 2 at 3 repeats");
  CHECK(over.standings[1].reason == "none of its 3 runs has a value");
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
  Draws draws(7);
  std::vector<RacePoint> points{{"fast", 4, {}}, {"slow", 4, {}}, {"never", 4, {}}};
  const auto race = run_race(points, {.better = Better::smaller}, draws, [&](std::size_t i) {
    return i == 2 ? missed : (i == 0 ? 10 : 20) * std::exp(0.01 * draws.normal());
  });
  CHECK(race.is_over);
  CHECK(race.standings[0].reason.starts_with("the best of 3"));
  CHECK(race.repeats > 3); // so few runs that missed could not be told from the others by their ranks
  CHECK(race.standings[1].reason.starts_with("worse than fast"));
  CHECK(race.standings[2].reason.starts_with("worse than"));
}

TEST_CASE("of equal candidates at several sizes, at most 5 % of races drop any, also if some scatter more or the machine has two "
          "speeds")
{
  const auto kind = GENERATE(MachineKind::equal, MachineKind::unequal, MachineKind::bimodal);
  const std::size_t candidates = GENERATE(2, 6);
  Draws draws(8);
  constexpr int trials = 1000;
  int wrong = 0;
  for (int trial = 0; trial < trials; ++trial) wrong += drops_an_equal(kind, candidates, 4, draws) ? 1 : 0;
  INFO(name_of(kind) << ", " << candidates << " candidates: " << wrong);
  CHECK(wrong <= trials * 0.05);
}

TEST_CASE("what slows a whole round down decides nothing and hides nothing")
{
  Draws draws(10);
  auto points = rivals(3, 1);
  double slowness = 1;
  int runs = 0;
  const auto race = run_race(points, {}, draws, [&](std::size_t i) {
    if (runs++ % 3 == 0) slowness = std::exp(0.2 * draws.normal());
    return (i == 0 ? 1.05 : 1) * 1000 * slowness * std::exp(0.01 * draws.normal());
  });
  CHECK(race.standings[0].reason.starts_with("the best of 3"));
}

TEST_CASE("a race that was interrupted after any look goes on as if it had not been")
{
  Draws draws(11);
  auto points = rivals(4, 2);
  std::vector<std::pair<std::vector<RacePoint>, Race>> looks;
  const auto end = run_race(
      points, {}, draws, [&](std::size_t i) { return (1 + 0.03 * static_cast<double>(i % 4)) * std::exp(0.02 * draws.normal()); },
      [&](const Race& race) { looks.emplace_back(points, race); });
  REQUIRE(looks.size() >= 4); // the candidates leave one after the other
  for (const auto& [then, race] : looks) check_same(race_of(then, {}), race);
  check_same(race_of(points, {}), end);
}

TEST_CASE("another sequence of more runs of a point that has lost changes nothing")
{
  Draws draws(12);
  auto points = rivals(4, 1);
  const auto end = run_race(points, {}, draws,
                            [&](std::size_t i) { return (1 + 0.03 * static_cast<double>(i)) * std::exp(0.02 * draws.normal()); });
  REQUIRE(points[0].values.size() < points[3].values.size());
  points[0].values.resize(points[3].values.size(), 5.0);
  check_same(race_of(points, {}), end);
}
