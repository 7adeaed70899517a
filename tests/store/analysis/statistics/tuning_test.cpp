// The search for the best setting of tuned keys.
#include "store/analysis/statistics/tuning.hpp"
#include "tests/support/simulated_surface.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using test::Draws;
using test::Surface;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// How many of 200 searches end within 10 % of the best cost.
int count_good(const Surface& surface, std::int64_t runs, std::uint64_t seed)
{
  Draws draws(seed);
  int good = 0;
  for (int i = 0; i < 200; ++i) {
    auto moved = surface;
    for (auto& optimum : moved.optimum) optimum += 0.7 * draws.uniform();
    const auto found = test::search(moved, runs, draws);
    if (found.best && found.is_bracketed && moved.cost(*found.best) <= 1.1) ++good;
  }
  return good;
}

} // namespace

TEST_CASE("a search finds the optimum of a smooth surface, of a flat one and before a cliff, with noise between seeds")
{
  CHECK(count_good({.optimum = {-2}, .noise = 0.02}, 12, 1) >= 199);
  CHECK(count_good({.optimum = {-2}, .bend = 0.5, .noise = 0.1}, 12, 2) >= 190);
  CHECK(count_good({.optimum = {-2}, .bend = 5, .cliff = 0.1, .noise = 0.05}, 12, 3) >= 190);
  CHECK(count_good({.optimum = {-2, -1.5}, .noise = 0.05}, 24, 4) >= 190);
}

TEST_CASE("an optimum outside of the range widens it, and one that cannot be enclosed is none")
{
  Draws draws(1);
  for (const double optimum : {-3.5, 0.6}) {
    const auto found = test::search({.optimum = {optimum}}, 12, draws);
    REQUIRE(found.best);
    CHECK(found.is_bracketed);
    CHECK(std::log10(found.best->front()) == Approx(optimum).margin(0.1));
  }
  const auto beyond = test::search({.optimum = {-9}}, 6, draws);
  CHECK(beyond.is_over);
  CHECK_FALSE(beyond.is_bracketed);
  const TuneRule rule{.keys = {{.path = "", .from = 1, .to = 64, .is_integer = true, .least = 1, .most = 1e6}}, .runs = 12};
  const auto found = search_of(rule, {}, [](const Trial& trial) { return std::optional(10 + trial.setting.front()); });
  CHECK(found.best == Setting{1}); // the key can go no further
  CHECK(found.is_bracketed);
  std::set<Setting> settings;
  for (const auto& trial : found.trials) {
    CHECK(trial.setting.front() == std::round(trial.setting.front()));
    if (trial.seed == 0) CHECK(settings.insert(trial.setting).second);
  }
}

TEST_CASE("a search takes no more than its runs, repeats settings near the optimum, and says how flat it is")
{
  Draws draws(1);
  for (const std::int64_t runs : {6, 9, 12, 20, 40}) {
    const auto found = test::search({.optimum = {-1.7}, .noise = 0.1}, runs, draws);
    CHECK(found.is_over);
    CHECK(found.trials.size() <= static_cast<std::size_t>(runs));
  }
  const auto found = test::search({.optimum = {-1.7}}, 12, draws);
  CHECK(std::ranges::any_of(found.trials, [](const Trial& trial) { return trial.seed == 1; }));
  const double half = std::sqrt(std::log(1.1) / 1.3);
  CHECK(std::log10(found.flat.front().low) == Approx(-1.7 - half).margin(0.03));
  CHECK(std::log10(found.flat.front().high) == Approx(-1.7 + half).margin(0.03));
}

TEST_CASE("a search that is replayed with the costs so far asks for the same runs again, and for those of the next round")
{
  Draws draws(1);
  const Surface surface{.optimum = {-1.2}, .noise = 0.1};
  std::map<std::pair<double, std::int64_t>, double> known;
  const TuneRule rule{.keys = {{.path = "", .from = 0.001, .to = 1, .least = 0, .most = 1e3}}, .runs = 12};
  std::vector<Trial> before;
  int looks = 0;
  while (true) {
    const auto search = search_of(rule, {}, [&](const Trial& trial) -> std::optional<double> {
      const auto found = known.find({trial.setting.front(), trial.seed});
      return found == known.end() ? std::nullopt : std::optional(found->second);
    });
    REQUIRE(search.trials.size() >= before.size());
    CHECK(std::equal(before.begin(), before.end(), search.trials.begin()));
    if (search.is_over) break;
    REQUIRE(search.trials.size() > before.size());
    before = search.trials;
    for (const auto& trial : before)
      known.try_emplace({trial.setting.front(), trial.seed}, surface.cost_of_a_run(trial.setting, draws));
    ++looks;
  }
  CHECK(looks >= 3);
}

TEST_CASE("settings that diverge everywhere leave no optimum, and lower ones are tried")
{
  const TuneRule rule{.keys = {{.path = "", .from = 0.1, .to = 10, .least = 0, .most = 1e3}}, .runs = 12};
  const auto nothing = search_of(rule, {}, [](const Trial&) { return std::optional(infinite); });
  CHECK(nothing.is_over);
  CHECK_FALSE(nothing.best);
  const Surface surface{.optimum = {-1.8}, .cliff = 0.3};
  const auto found = search_of(rule, {}, [&](const Trial& trial) { return std::optional(surface.cost(trial.setting)); });
  REQUIRE(found.best);
  CHECK(found.best->front() < 0.032);
}

TEST_CASE("a search that begins at the optimum of a smaller size takes two thirds of the runs and is as good")
{
  Draws draws(1);
  int good = 0;
  for (int i = 0; i < 200; ++i) {
    const Surface surface{.optimum = {-2 + 0.6 * draws.uniform()}, .noise = 0.05};
    const auto found = test::search(surface, 12, draws, {{0.01}, {0.02}, {0.04}});
    CHECK(found.trials.size() <= 8);
    if (found.best && found.is_bracketed && surface.cost(*found.best) <= 1.1) ++good;
  }
  CHECK(good >= 190);
}
