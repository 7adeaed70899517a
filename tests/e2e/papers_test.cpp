// The studies of recipes/library/papers run, each at its smallest size. Those that need the testbed are only loaded
// (tests/recipes/library_test.cpp).
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;
using dt::test::with;
using dt::test::Words;

namespace {

void check_study(const Dtctl& dtctl, const std::string& recipe, const Words& smaller)
{
  INFO(recipe);
  const auto outcome = dtctl.json(with({"sweep", recipe, "--wait"}, smaller));
  INFO(outcome.dump(1));
  CHECK(outcome.at("exit_code") == 0);
  const auto rows = dtctl.json({"query", "SELECT state, throughput FROM runs_flat WHERE study = '" + recipe + "'"}).at("rows");
  CHECK(rows.size() >= 2);
  for (const auto& row : rows) {
    CHECK(row.at("state") == "succeeded");
    CHECK(row.at("throughput").get<double>() > 0);
  }
}

} // namespace

TEST_CASE("the simulated studies of the papers run at their smallest sizes")
{
  const Dtctl dtctl;
  const Words two_sizes{"--set", "study.nodes=[1,4]"};
  for (const auto* recipe : {"swcaffe-resnet50", "swcaffe-alexnet", "swflow-period", "easgd-weak-scaling",
                             "easgd-weak-scaling-profile", "tianhe3-models"})
    check_study(dtctl, recipe, with(two_sizes, {"--over", "train.seed=1,2"}));
  check_study(dtctl, "swcaffe-order", two_sizes);
  check_study(dtctl, "swcaffe-platforms", two_sizes);
  check_study(dtctl, "swflow-nodes", two_sizes);
  check_study(dtctl, "swflow-assumptions", two_sizes);
  check_study(dtctl, "swflow-batch", two_sizes);
  check_study(dtctl, "easgd-stragglers", with(two_sizes, {"--set", "study.repeats=2"}));
  check_study(dtctl, "tianhe3-dynamic", two_sizes);
  check_study(dtctl, "easgd-family-64", {});
  check_study(dtctl, "easgd-partition-64", {"--set", "train.steps=4", "--set", "train.warmup_steps=1"});
}

TEST_CASE("the real studies of the papers that need one machine run on little data")
{
  const Dtctl dtctl;
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "4096", "--test", "100"}).exit_code == 0);
  REQUIRE(dtctl.run({"data", "make", "shapes", "--train", "512", "--test", "32"}).exit_code == 0);
  const Words once{"--set", "study.repeats=1", "--set", "resources.oversubscribe=true"};
  const Words two_epochs{"--set", "train.epochs=2", "--set", "optimizer.warmup_epochs=0"};
  check_study(dtctl, "large-batches", with(once, two_epochs));
  check_study(dtctl, "large-batches-resnet20",
              with(once, with(two_epochs, {"--set", "data.train_samples=512", "--set", "data.test_samples=32"})));
  check_study(dtctl, "easgd-partition", with(once, {"--set", "train.epochs=1", "--set", "train.warmup_steps=1"}));
  check_study(dtctl, "swflow-accuracy", with(once, {"--set", "train.epochs=1"}));
  check_study(dtctl, "swflow-batch-accuracy", with(once, two_epochs));
  REQUIRE(
      dtctl.run({"data", "pack", (dtctl.home() / "data" / "shapes").string(), "--size", "128", "-o", "shapes-128"}).exit_code ==
      0);
  check_study(dtctl, "hsgd-reads", with(once, {"--set", "train.steps=6", "--set", "train.warmup_steps=1"}));
  check_study(dtctl, "tianhe3-accuracy",
              with(once, {"--set", "train.epochs=1", "--set", "train.warmup_steps=1", "--set", "data.train_samples=256", "--set",
                          "data.test_samples=32"}));
  check_study(dtctl, "tianhe3-gloo",
              with(once, {"--set", "train.steps=4", "--set", "train.warmup_steps=1", "--set", "data.train_samples=256", "--set",
                          "data.test_samples=32"}));
}
