// What the race of a study has come to.
#include "store/analysis/verdict/race_outcome.hpp"

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

} // namespace

TEST_CASE("with several sizes the largest comes first, each with its best, its open points and the most repeats, and without "
          "rivals there is none")
{
  const std::vector points{point_of("a", 2), point_of("a", 4), point_of("b", 2), point_of("b", 4), point_of("c", 4)};
  const auto outcomes = race_outcomes(points, {.is_over = true, .repeats = 12, .standings = {best, open, lost, racing, lost}});
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].ranks == 4);
  CHECK(outcomes[0].rivals == 3);
  CHECK(outcomes[0].open == std::vector<std::size_t>{1, 3});
  CHECK(outcomes[0].best.empty());
  CHECK(outcomes[1].ranks == 2);
  CHECK(outcomes[1].best == std::vector<std::size_t>{0});
  CHECK(outcomes[1].open.empty());
  CHECK(outcomes[1].repeats == 5);
  const std::vector lone{point_of("", 1), point_of("", 2)};
  CHECK(race_outcomes(lone, {.is_over = true, .repeats = 3, .standings = {lost, lost}}).empty());
}
