#include "recipes/reading/price.hpp"

#include "recipes/recipe.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

std::vector<Profile> priced_profiles(const std::string& user)
{
  const TemporaryFolder folder;
  LoadOptions options;
  options.user_config = folder.write("user.yaml", user);
  return list_profiles(options);
}

std::string price_error(const std::string& block)
{
  try {
    priced_profiles("profiles:\n  a:\n    cost: " + block + "\n");
    return "no error";
  } catch (const RecipeError& error) {
    const std::string text = error.what();
    return text.substr(text.find("user.yaml") + 10);
  }
}

} // namespace

TEST_CASE("a profile has a price of a node-hour, in EUR if no currency is given, and that of the profile it extends")
{
  const auto profiles = priced_profiles("profiles:\n  base: { cost: { node_hour: 0.8 } }\n  heir: { extends: base }\n"
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
  CHECK(price_error("{ node_hour: -1 }") == "3:24: `cost.node_hour` must be a number of at least 0, such as 0.8, not `-1`");
  CHECK_THAT(price_error("{ node_hour: nan }"), Catch::Contains("must be a number of at least 0"));
  CHECK_THAT(price_error("{ node_hour: 1, currency: '' }"), Catch::Contains("`cost.currency` must be a word"));
  CHECK_THAT(price_error("{ currency: EUR }"), Catch::Contains("`cost` needs `node_hour`"));
  CHECK_THAT(price_error("{ node_huor: 1 }"), Catch::Contains("did you mean `node_hour`"));
  CHECK_THAT(price_error("3"), Catch::Contains("`cost` must be a map of keys"));
}
