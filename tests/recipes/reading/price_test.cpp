#include "recipes/reading/price.hpp"

#include "recipes/recipe.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

std::string price_error(const std::string& block) { return error_in_profile("cost: " + block); }

} // namespace

TEST_CASE("a profile has a price of a node-hour, in EUR if no currency is given, and that of the profile it extends")
{
  const auto profiles = profiles_in("profiles:\n  base: { cost: { node_hour: 0.8 } }\n  heir: { extends: base }\n"
                                    "  own: { extends: base, cost: { node_hour: 12, currency: CHF } }\n  none: {}\n");
  REQUIRE(profiles.size() == 4);
  CHECK(profiles[0].price->node_hour == 0.8);
  CHECK(profiles[0].price->currency == "EUR");
  CHECK(profiles[1].price->node_hour == 0.8);
  CHECK_FALSE(profiles[2].price);
  CHECK(profiles[3].price->currency == "CHF");
}

TEST_CASE("prices that cannot be are refused with their place")
{
  check_refused(price_error,
                {{"{ node_hour: -1 }", "3:24: `cost.node_hour` must be a number of at least 0, such as 0.8, not `-1`"},
                 {"{ node_hour: nan }", "3:24: `cost.node_hour` must be a number of at least 0"},
                 {"{ node_hour: 1, currency: '' }", "3:37: `cost.currency` must be a word"},
                 {"{ currency: EUR }", "3:11: `cost` needs `node_hour`"},
                 {"{ node_huor: 1 }", "3:13: unknown key `node_huor` in `cost`; did you mean `node_hour`"},
                 {"3", "3:11: `cost` must be a map of keys"}});
}
