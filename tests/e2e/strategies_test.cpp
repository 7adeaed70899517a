// Every strategy learns: its shipped recipe on four workers, stopped when it has reached its target accuracy.
#include "core/file.hpp"
#include "core/spec/names.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::Json;

namespace {

fs::path recipe_of(const std::string& strategy)
{
  return fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library" / ("lenet-" + strategy + ".yaml");
}

// The run of a strategy's recipe, after its end. The workers share the cores of this machine.
Json train(const Dtctl& dtctl, const std::string& strategy)
{
  REQUIRE(dtctl.run({"data", "make", "digits"}).exit_code == 0);
  const auto outcome = dtctl.json({"submit", recipe_of(strategy).string(), "--set", "resources.oversubscribe=true", "--set",
                                   "train.stop_at_target=true", "--wait"});
  INFO(outcome.dump(1));
  REQUIRE(outcome.at("exit_code") == 0);
  return dtctl.json({"export"}).at("runs")[0];
}

void check_learns(const std::string& strategy)
{
  const Dtctl dtctl;
  const auto run = train(dtctl, strategy);
  INFO(run.dump(1));
  CHECK(run.at("state").get<std::string>() == "succeeded");
  CHECK(run.at("strategy").get<std::string>() == strategy);
  CHECK(run.at("accuracy").get<double>() >= 0.97);
}

} // namespace

TEST_CASE("every strategy has a shipped recipe")
{
  for (const auto& strategy : dt::strategy_names()) {
    INFO(strategy.name);
    CHECK(fs::exists(recipe_of(std::string(strategy.name))));
  }
}

TEST_CASE("LeNet on digits learns to 97% with sync-sgd") { check_learns("sync-sgd"); }
TEST_CASE("LeNet on digits learns to 97% with hsgd") { check_learns("hsgd"); }
TEST_CASE("LeNet on digits learns to 97% with local-sgd") { check_learns("local-sgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-sgd") { check_learns("async-sgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-msgd") { check_learns("async-msgd"); }
TEST_CASE("LeNet on digits learns to 97% with hogwild-sgd") { check_learns("hogwild-sgd"); }
TEST_CASE("LeNet on digits learns to 97% with easgd") { check_learns("easgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-easgd") { check_learns("async-easgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-measgd") { check_learns("async-measgd"); }
TEST_CASE("LeNet on digits learns to 97% with hogwild-easgd") { check_learns("hogwild-easgd"); }
TEST_CASE("LeNet on digits learns to 97% with sync-easgd") { check_learns("sync-easgd"); }
TEST_CASE("LeNet on digits learns to 97% with decentralized-easgd") { check_learns("decentralized-easgd"); }
