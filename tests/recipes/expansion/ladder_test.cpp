// A scaling study inside one allocation, and its A/A controls.
#include "recipes/checks/checks.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;
using Names = std::vector<std::string>;

namespace {

const std::string on_slurm = "resources: { scheduler: slurm }\n";

Plan ladder(const std::string& study, const std::string& more = "")
{
  return plan_of(minimal(on_slurm + "study: { layout: ladder, mode: strong, " + study + " }\n" + more));
}

std::vector<std::size_t> places_of_controls(const Plan& plan)
{
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < plan.runs.size(); ++i)
    if (plan.runs[i].control) places.push_back(i);
  return places;
}

} // namespace

TEST_CASE("a ladder runs its smallest size first and last again, as controls, and of several points one alone")
{
  const auto plan = ladder("nodes: [4, 1, 2], order: listed");
  CHECK(names_of(plan) == Names{"nodes=1/control #1", "nodes=4", "nodes=1", "nodes=2", "nodes=1/control #2"});
  CHECK(places_of_controls(plan) == std::vector<std::size_t>{0, 4});
  const auto of_points = ladder("nodes: [1, 2], controls: 2", "sweep: { matrix: { train.seed: [7, 3] } }\n");
  const auto places = places_of_controls(of_points);
  REQUIRE(places.size() == 2);
  for (const auto place : places) CHECK(run_name(of_points.runs[place]).starts_with("r/seed=3 nodes=1/control #"));
}

TEST_CASE("controls repeat the measured work under repeat numbers of their own")
{
  const auto plan = ladder("nodes: [1, 2], repeats: 3, controls: 4, vary_seed: true");
  REQUIRE(plan.runs.size() == 10);
  std::set<std::int64_t> repeats;
  for (const auto& run : plan.runs) {
    if (!run.control) continue;
    repeats.insert(run.repeat);
    CHECK(run.resources.nodes == 1);
    CHECK(run.train.seed == 1);
  }
  CHECK(repeats == std::set<std::int64_t>{3, 4, 5, 6});
}

TEST_CASE("controls are spread evenly from the first place to the last, do not disturb the random order, and jobs of their own "
          "need none")
{
  CHECK(places_of_controls(ladder("nodes: [1, 2, 4], repeats: 4, controls: 3")) == std::vector<std::size_t>{0, 7, 14});
  CHECK(places_of_controls(ladder("nodes: [1, 2], controls: 5")) == std::vector<std::size_t>{0, 1, 3, 4, 6});
  CHECK(places_of_controls(ladder("nodes: [1, 2], controls: 0")).empty());
  auto with = names_of(ladder("nodes: [1, 2, 4, 8, 16], repeats: 2, controls: 3"));
  std::erase_if(with, [](const std::string& name) { return name.find("control") != name.npos; });
  CHECK(with == names_of(ladder("nodes: [1, 2, 4, 8, 16], repeats: 2, controls: 0")));
  CHECK(names_of(plan_of(minimal("study: { mode: strong, ranks: [1, 2], order: listed, controls: 2 }\n"))) ==
        Names{"ranks=1", "ranks=2"});
}

TEST_CASE(
    "a ladder on one machine, without sizes, with one control, which shows no drift, or with several allocations is refused")
{
  const std::string ladder = on_slurm + "study: { layout: ladder", sizes = ", mode: strong, nodes: [1, 2]",
                    sweep = "sweep: { matrix: { resources.partition: [debug, batch] } }\n";
  check_refused(
      [](const std::string& text) { return errors_of(minimal(text)); },
      {{"study: { mode: strong, ranks: [1], layout: ladder }\n",
        "r.yaml:5:44: `study.layout` ladder needs `resources.scheduler` slurm"},
       {ladder + " }\n", "r.yaml:6:18: a ladder is a scaling study in one allocation: give `study.mode`"},
       {ladder + sizes + ", controls: 1 }\n", "r.yaml:6:65: `study.controls` 1 shows no drift: give 2 or more"},
       {ladder + sizes + " }\n" + sweep, "r.yaml:5:1: the runs of a ladder share one allocation, so `resources.partition`"}});
  CHECK(errors_of(minimal(on_slurm + "study: { mode: strong, nodes: [1, 2] }\n" + sweep)).empty());
}

TEST_CASE("the warning ahead of the time limit fits a short limit, unless it is given")
{
  const auto ahead = [](const std::string& resources) {
    return plan_of(minimal("resources: { " + resources + " }\n")).runs.front().resources.signal_ahead_s;
  };
  CHECK(ahead("time_limit: 1h") == 60);
  CHECK(ahead("time_limit: 100s") == 25);
  CHECK(ahead("time_limit: 3s") == 0);
  CHECK(ahead("time_limit: 100s, signal_ahead: 99s") == 99);
  CHECK(places_of(minimal("resources: { time_limit: 100s, signal_ahead: 100s }\n")) == "5:46");
}
