// What the race of a study says.
#include "store/analysis/verdict/race_verdict.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

RacePoint point_of(std::string label, std::int64_t ranks = 2)
{
  return {.label = std::move(label), .ranks = ranks, .values = {}};
}

constexpr RaceStanding lost{.is_racing = false, .repeats = 3};
constexpr RaceStanding best{.is_racing = false, .repeats = 5, .is_best = true};
constexpr RaceStanding open{.is_racing = false, .repeats = 12, .is_open = true};
constexpr RaceStanding racing{.is_racing = true, .repeats = 7};

std::string headline(const std::vector<RacePoint>& points, const Race& race, const std::string& limit = "",
                     const std::vector<std::string>& facts = {})
{
  return sentence_of(race_verdict(points, race, {}, limit, facts));
}

} // namespace

TEST_CASE("a race with one candidate left names it, with the repeats that it took and the facts that bear on it")
{
  const std::vector points{point_of("a"), point_of("b"), point_of("c")};
  const Race race{.is_over = true, .repeats = 5, .standings = {lost, best, lost}};
  CHECK(headline(points, race) == "b is the best of 3 by throughput after 5 repeats");
  CHECK(headline(points, race, "", {"the machine was busy"}) ==
        "b is the best of 3 by throughput after 5 repeats; the machine was busy");
}

TEST_CASE("candidates that a race found equivalent are the best together")
{
  const std::vector points{point_of("a"), point_of("b"), point_of("c")};
  const Race race{.is_over = true, .repeats = 5, .standings = {best, best, lost}};
  CHECK(headline(points, race) == "a, b are the best of 3 by throughput and equivalent within 3 % after 5 repeats");
}

TEST_CASE("a race that ended undecided, was stopped or goes on says between how many candidates")
{
  const std::vector points{point_of("a"), point_of("b"), point_of("c")};
  CHECK(headline(points, {.is_over = true, .repeats = 12, .standings = {open, lost, open}}) ==
        "Undecided between 2 of 3 by throughput after 12 repeats, the most that are allowed: a, c");
  const Race race{.is_over = false, .repeats = 7, .standings = {racing, racing, racing}};
  CHECK(headline(points, race, "the budget: 2 of 2 node-hours are spent") ==
        "Undecided between 3 of 3 by throughput, because of the budget: 2 of 2 node-hours are spent");
  CHECK(headline(points, race) == "Undecided between 3 of 3 by throughput, so far: the same sweep --until-decided goes on");
}

TEST_CASE("a race without a single value says so")
{
  const std::vector points{point_of("a"), point_of("b")};
  CHECK(headline(points, {.is_over = true, .repeats = 3, .standings = {lost, lost}}) ==
        "No candidate of 2 by throughput has a value after 3 repeats");
}

TEST_CASE("with several sizes the largest one decides, and each smaller one has a line")
{
  const std::vector points{point_of("a", 2), point_of("a", 4), point_of("b", 2), point_of("b", 4)};
  const Race race{.is_over = true, .repeats = 12, .standings = {best, open, lost, open}};
  const auto text = race_verdict(points, race, {.better = Better::smaller}, "", {});
  CHECK(text.headline == "Undecided between 2 of 2 by time to target at 4 ranks after 12 repeats, the most that are allowed");
  CHECK(text.lines == std::vector<std::string>{"a is the best of 2 by time to target at 2 ranks after 5 repeats"});
}

TEST_CASE("a study without rivals has no verdict of its race")
{
  const std::vector points{point_of("", 1), point_of("", 2)};
  CHECK(race_verdict(points, {.is_over = true, .repeats = 3, .standings = {lost, lost}}, {}, "", {}).headline.empty());
}
