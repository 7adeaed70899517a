// Every strategy learns: its shipped recipe on four workers, stopped when it has reached its target accuracy.
#include "core/files/file.hpp"
#include "core/spec/names.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::Json;

namespace {

fs::path recipe_of(const std::string& name)
{
  return fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library" / ("lenet-" + name + ".yaml");
}

// The run of the recipe lenet-NAME, after its end. The workers share the cores of this machine.
Json train(const Dtctl& dtctl, const std::string& name)
{
  REQUIRE(dtctl.run({"data", "make", "digits"}).exit_code == 0);
  const auto outcome = dtctl.json({"submit", recipe_of(name).string(), "--set", "resources.oversubscribe=true", "--set",
                                   "train.stop_at_target=true", "--wait"});
  INFO(outcome.dump(1));
  REQUIRE(outcome.at("exit_code") == 0);
  return dtctl.json({"export"}).at("runs")[0];
}

void check_learns(const std::string& name, const std::string& strategy)
{
  const Dtctl dtctl;
  const auto run = train(dtctl, name);
  INFO(run.dump(1));
  CHECK(run.at("state").get<std::string>() == "succeeded");
  CHECK(run.at("strategy").get<std::string>() == strategy);
  CHECK(run.at("accuracy").get<double>() >= 0.97);
}

void check_learns(const std::string& strategy) { check_learns(strategy, strategy); }

} // namespace

TEST_CASE("a run of two ranks records its gradient noise scale, and ends in the same weights as without")
{
  const Dtctl dtctl;
  REQUIRE(dtctl.run({"data", "make", "digits"}).exit_code == 0);
  std::vector<std::string> words{"submit",
                                 recipe_of("sync-sgd").string(),
                                 "--wait",
                                 "--set",
                                 "resources.ranks_per_node=2",
                                 "--set",
                                 "train.epochs=1",
                                 "--set",
                                 "train.algorithms=rules",
                                 "--set",
                                 "resources.oversubscribe=true"};
  REQUIRE(dtctl.json(words).at("exit_code") == 0);
  words.insert(words.end(), {"--set", "train.noise_scale=2"});
  REQUIRE(dtctl.json(words).at("exit_code") == 0); // another run
  const auto rows =
      dtctl.json({"query", "SELECT noise_scale, noise_scale_low, weights_hash FROM results ORDER BY noise_scale"}).at("rows");
  INFO(rows.dump(1));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("noise_scale").is_null());
  CHECK(rows[1].at("noise_scale").get<double>() > rows[1].at("noise_scale_low").get<double>());
  CHECK(rows[0].at("weights_hash") == rows[1].at("weights_hash"));
  const auto curve = dtctl.json({"query", "SELECT noise_scale FROM evals WHERE noise_scale > 0"}).at("rows");
  INFO(curve.dump(1));
  CHECK_FALSE(curve.empty());
}

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
TEST_CASE("LeNet on digits learns to 97% with diloco") { check_learns("diloco"); }
TEST_CASE("LeNet on digits learns to 97% with streaming diloco") { check_learns("diloco-streaming", "diloco"); }
TEST_CASE("LeNet on digits learns to 97% with async-sgd") { check_learns("async-sgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-msgd") { check_learns("async-msgd"); }
TEST_CASE("LeNet on digits learns to 97% with hogwild-sgd") { check_learns("hogwild-sgd"); }
TEST_CASE("LeNet on digits learns to 97% with easgd") { check_learns("easgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-easgd") { check_learns("async-easgd"); }
TEST_CASE("LeNet on digits learns to 97% with async-measgd") { check_learns("async-measgd"); }
TEST_CASE("LeNet on digits learns to 97% with hogwild-easgd") { check_learns("hogwild-easgd"); }
TEST_CASE("LeNet on digits learns to 97% with sync-easgd") { check_learns("sync-easgd"); }
TEST_CASE("LeNet on digits learns to 97% with decentralized-easgd") { check_learns("decentralized-easgd"); }
