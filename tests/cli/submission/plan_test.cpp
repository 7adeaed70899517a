#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::tiny_recipe;

namespace {
constexpr const char* strong = "resources: {time_limit: 30m}\nstudy: {mode: strong, ranks: [1, 2], repeats: 3}\n";
}

TEST_CASE("a plan holds every run with its key, its script and its core-hours, and writes nothing")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe(strong));
  const auto plan = dtctl.json({"sweep", "--dry-run", "tiny.yaml"});
  REQUIRE(plan.at("runs").size() == 6);
  CHECK(plan.at("run_count") == 6);
  CHECK(plan.at("to_submit") == 6);
  CHECK(plan.at("core_hours").get<double>() == Approx(3 * 0.5 + 3 * 1.0)); // half an hour on 1 and on 2 cores, 3 times
  for (const auto& run : plan.at("runs")) {
    CHECK(run.at("time_limit_s") == 1800);
    CHECK(run.at("key").get<std::string>().size() == 32);
    const auto script = run.at("script").get<std::string>();
    CHECK(script.starts_with("#!/bin/bash\n"));
    CHECK(script.find("dtengine") != std::string::npos);
    CHECK(run.at("state") == "planned");
    CHECK(run.at("reason") == "new");
  }
  CHECK_FALSE(std::filesystem::exists(dtctl.home()));
}

TEST_CASE("a plan's core-hours are those of the worst case, with every requeue, and it says so")
{
  const Dtctl dtctl;
  const std::string sweep = "sweep: {matrix: {optimizer.learning_rate: [0.1, 0.2]}}\n";
  dtctl.write("slurm.yaml", tiny_recipe("resources: {scheduler: slurm, time_limit: 30m, requeue: 3}\n" + sweep));
  const auto plan = dtctl.json({"sweep", "--dry-run", "slurm.yaml"});
  CHECK(plan.at("core_hours").get<double>() == Approx(2 * 0.5 * 4));
  CHECK(plan.at("core_hours_to_submit").get<double>() == Approx(2 * 0.5 * 4));
  CHECK(plan.at("core_hours_without_requeues").get<double>() == Approx(2 * 0.5));
  CHECK(plan.at("runs")[0].at("core_hours").get<double>() == Approx(0.5 * 4));
  CHECK(dtctl.run({"sweep", "--dry-run", "slurm.yaml"}).out.find("with every requeue (1 without requeues)") != std::string::npos);
  // The scheduler of this machine starts no run again.
  dtctl.write("local.yaml", tiny_recipe("resources: {time_limit: 30m, requeue: 3}\n" + sweep));
  CHECK(dtctl.json({"sweep", "--dry-run", "local.yaml"}).at("core_hours").get<double>() == Approx(2 * 0.5));
}

TEST_CASE("a plan whose data set has no files shows the runs and their scripts, and says what is missing, and sweep refuses")
{
  const Dtctl dtctl;
  dtctl.write("digits.yaml",
              "version: 1\nname: d\nmodel: {name: lenet}\ndata: {name: digits}\ntrain: {global_batch: 64, epochs: 2}\n"
              "resources: {scheduler: slurm, partition: batch}\nstudy: {mode: strong, ranks: [1, 2]}\n");
  const auto plan = dtctl.json({"sweep", "--dry-run", "digits.yaml"});
  REQUIRE(plan.at("runs").size() == 2);
  CHECK(plan.at("to_submit") == 0);
  for (const auto& run : plan.at("runs")) {
    CHECK(run.at("key").is_null());
    CHECK(run.at("submit") == false);
    CHECK(run.at("script").get<std::string>().find("dtengine") != std::string::npos);
  }
  const auto& refusal = plan.at("refusals")[0];
  CHECK(refusal.at("runs") == 2);
  CHECK(refusal.at("reason").get<std::string>().ends_with("make it with: dtctl data make digits"));
  const auto shown = dtctl.run({"sweep", "--dry-run", "digits.yaml", "--scripts"});
  CHECK(shown.exit_code == 0);
  CHECK(shown.err.find("2 of 2 runs cannot be submitted") != std::string::npos);
  CHECK(dtctl.run({"sweep", "digits.yaml"}).exit_code != 0);
}

TEST_CASE("submit is sweep, plan, sweep --dry-run and sweep -n are the same, and --scripts adds every run's script")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe(strong));
  const auto plan = dtctl.run({"sweep", "--dry-run", "tiny.yaml"}).out;
  CHECK(plan.find("  limit  ") != std::string::npos);
  for (const dt::test::Words& words :
       {dt::test::Words{"sweep", "tiny.yaml", "-n"}, {"submit", "tiny.yaml", "--dry-run"}, {"plan", "tiny.yaml"}})
    CHECK(dtctl.run(words).out == plan);
  CHECK(dtctl.run({"--quiet", "plan", "tiny.yaml"}).out == dtctl.run({"--quiet", "sweep", "tiny.yaml", "--dry-run"}).out);
  const auto text = dtctl.run({"sweep", "--dry-run", "tiny.yaml", "--scripts", "--set", "resources.time_limit=1-12"}).out;
  CHECK(text.find("1d12h") != std::string::npos);
  std::size_t scripts = 0;
  for (auto at = text.find("#!/bin/bash"); at != std::string::npos; at = text.find("#!/bin/bash", at + 1)) ++scripts;
  CHECK(scripts == 6);
}

TEST_CASE("a plan says what its runs cost at most, if the machine profile has a price")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe("resources: {time_limit: 30m}\nsweep: {matrix: {train.seed: [1, 2, 3]}}\n"));
  CHECK_FALSE(dtctl.json({"sweep", "--dry-run", "tiny.yaml"}).contains("cost"));
  std::filesystem::create_directories(dtctl.folder() / "config/dtctl");
  dtctl.write("config/dtctl/config.yaml", "profiles: {priced: {cost: {node_hour: 0.8, currency: CHF}}}\n");
  const auto cost = dtctl.json({"sweep", "--dry-run", "tiny.yaml", "--profile", "priced"}).at("cost");
  CHECK(cost.at("all").get<double>() == Approx(3 * 0.5 * 0.8));
  CHECK(cost.at("to_submit") == cost.at("all"));
  CHECK(cost.at("currency") == "CHF");
  CHECK(dtctl.run({"plan", "tiny.yaml", "--profile", "priced"}).out.find("at most 1.20 CHF") != std::string::npos);
}

TEST_CASE("option --over adds an axis and --set changes a key, each as often as given")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  CHECK(dtctl.json({"sweep", "--dry-run", "--over", "optimizer.learning_rate=0.1,0.2", "--over", "train.seed=1,2,3", "tiny.yaml"})
            .at("runs")
            .size() == 6);
  const auto one = dtctl.json({"sweep", "--dry-run", "tiny.yaml"}),
             other = dtctl.json({"sweep", "--dry-run", "--set", "train.seed=7", "--set", "train.epochs=3", "tiny.yaml"});
  CHECK(one.at("runs")[0].at("key") != other.at("runs")[0].at("key"));
}

TEST_CASE("points that are the same run are planned once")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto result = dtctl.run({"sweep", "--dry-run", "tiny.yaml", "--over", "train.seed=1,1"});
  CHECK(result.exit_code != 70);
  if (result.exit_code == 0) CHECK(result.err.find("1 points of the sweep are the same run") != std::string::npos);
}

TEST_CASE("a recipe of that name that is not there is answered with the nearest one")
{
  const auto result = Dtctl().run({"sweep", "--dry-run", "quickstrat"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("did you mean `quickstart`?") != std::string::npos);
}
