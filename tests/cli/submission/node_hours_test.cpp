#include "cli/submission/node_hours.hpp"

#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;
using dt::test::Dtctl;
using dt::test::tiny_recipe;

namespace {

RunSpec run_on(std::int64_t nodes, std::int64_t time_limit_s, bool control = false)
{
  RunSpec spec;
  spec.resources.nodes = nodes;
  spec.resources.time_limit_s = time_limit_s;
  spec.control = control;
  return spec;
}

} // namespace

TEST_CASE("a ladder holds the largest size's nodes for all its runs' limits, and separate jobs have no controls")
{
  const std::vector<RunSpec> specs{run_on(1, 1800, true), run_on(1, 1800), run_on(2, 1800), run_on(4, 3600),
                                   run_on(1, 1800, true)};
  std::vector<const RunSpec*> runs;
  for (const auto& spec : specs) runs.push_back(&spec);
  const auto hours = node_hours(runs);
  CHECK(hours.ladder == Approx(4 * (3 + 5 / 60.0))); // and a minute a run to change from one to the next
  CHECK(hours.separate == Approx(0.5 + 1 + 4));
  CHECK(describe(hours) ==
        "ladder 12.33 (4 nodes for 3h5m, one wait in the queue), separate jobs 5.5 (3 waits); both by the time limits");
}

TEST_CASE("every requeue of a job costs its node-hours once more")
{
  std::vector<RunSpec> specs{run_on(1, 3600), run_on(2, 3600)};
  for (auto& spec : specs) {
    spec.resources.scheduler = "slurm";
    spec.resources.requeue = 3;
  }
  const auto hours = node_hours({&specs[0], &specs[1]});
  CHECK(hours.ladder == Approx(4 * 2 * (2 + 2 / 60.0)));
  CHECK(hours.separate == Approx(4 * (1 + 2)));
  CHECK(describe(hours).ends_with("both by the time limits, with up to 3 requeues a job"));
}

TEST_CASE("the plan of a ladder prints its node-hours and those of separate jobs, other plans do not")
{
  const Dtctl dtctl;
  const std::string study = "study: {mode: strong, nodes: [1, 2], repeats: 2, controls: 2";
  const std::string resources = "resources: {scheduler: slurm, time_limit: 30m}\n";
  dtctl.write("ladder.yaml", tiny_recipe(resources + study + ", layout: ladder}\n"));
  dtctl.write("separate.yaml", tiny_recipe(resources + study + "}\n"));
  const auto plan = dtctl.json({"sweep", "--dry-run", "ladder.yaml"});
  CHECK(plan.at("runs").size() == 6);
  CHECK(plan.at("node_hours").at("ladder").get<double>() == Approx(2 * (3 + 6 / 60.0)));
  CHECK(plan.at("node_hours").at("separate").get<double>() == Approx(2 * 0.5 + 2 * 1.0));
  CHECK_FALSE(dtctl.json({"sweep", "--dry-run", "separate.yaml"}).contains("node_hours"));
}
