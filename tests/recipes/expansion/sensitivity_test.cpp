// Runs of a simulated study that vary one assumed figure.
#include "core/spec/point_label.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

// A simulated weak-scaling study, with `study` in its study and `platform` for its machine.
std::string study(const std::string& study,
                  const std::string& platform = "bandwidth: 10 Gbit/s, memory_bandwidth: 5 GB/s, message_time: 0us")
{
  return "version: 1\nname: s\nmodel: {name: lenet}\ndata: {name: synthetic}\n"
         "train: {batch_per_rank: 4, steps: 10, modelled_rate: 100}\nsync: {allreduce: ring}\n"
         "resources: {platform: custom}\nplatform: {" +
         platform + "}\nstudy: {mode: weak, nodes: [1, 2, 4], order: listed" + study + "}\n";
}

std::set<std::string> varied_keys(const Plan& plan)
{
  std::set<std::string> keys;
  for (const auto& run : plan.runs)
    if (const auto figure = varied_figure(run.label)) keys.insert(figure->key);
  return keys;
}

} // namespace

TEST_CASE("a study with a sensitivity varies each of its figures at the smallest and the largest size, both ways, in each repeat")
{
  const auto plan = plan_of(study(", sensitivity: 20%"));
  CHECK(varied_keys(plan) == std::set<std::string>{"platform.bandwidth", "platform.memory_bandwidth", "train.modelled_rate"});
  REQUIRE(plan.runs.size() == 3 + 2 * 3 * 2); // the points; two sizes, three figures, lower and higher
  const auto& lower = plan.runs.at(3);
  CHECK(run_name(lower) == "s/simulated assumed=platform.bandwidth-20% nodes=1");
  CHECK(lower.control);
  CHECK(lower.platform.bandwidth == Approx(0.8 * 1.25e9));
  CHECK(lower.train.modelled_rate == 100);
  const auto& last = plan.runs.back();
  CHECK(run_name(last) == "s/simulated assumed=train.modelled_rate+20% nodes=4");
  CHECK(last.train.modelled_rate == Approx(120));
  CHECK(last.platform.bandwidth == 1.25e9);
  const auto repeated = plan_of(study(", repeats: 2, sensitivity: 20%"));
  CHECK(repeated.runs.size() == 2 * (3 + 2 * 3 * 2));
  CHECK(run_name(repeated.runs.back()) == "s/simulated assumed=train.modelled_rate+20% nodes=4/#2");
}

TEST_CASE("without a sensitivity no figure is varied, and figures that cannot change have no runs")
{
  CHECK(plan_of(study("")).runs.size() == 3);
  const std::string trunks = "bandwidth: 1 GB/s, memory_bandwidth: 5 GB/s, nodes_per_supernode: 2, trunk_share: 1";
  std::set<std::string> words;
  for (const auto& run : plan_of(study(", sensitivity: 0.1", trunks)).runs)
    if (run.label.find("trunk") != std::string::npos) words.insert(run.label);
  CHECK(words == std::set<std::string>{"simulated assumed=platform.trunk_share-10%"}); // a share stays at most 1
}

TEST_CASE("a sensitivity and a modelled spread are refused where they have no effect")
{
  using Catch::Contains;
  CHECK_THAT(errors_of(minimal("study: {mode: weak, ranks: [1, 2], sensitivity: 20%}\n")),
             Contains("`study.sensitivity` varies the assumed figures of simulated runs, and this run is executed"));
  CHECK_THAT(errors_of(minimal(), with_set({"train.modelled_step_spread=5%"})), Contains("only in a simulated run"));
  const auto measured = with_set({"train.modelled_node_spread=5%", "train.compute_profile=lenet", "train.modelled_rate=0"});
  CHECK_THAT(errors_of(study(""), measured), Contains("because `train.compute_profile` has the measured scatter of step times"));
}
