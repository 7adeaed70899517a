#include "store/analysis/doubts/busy_machine.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

// Five quiet runs of one point on one host.
std::vector<RunConditions> quiet_runs()
{
  std::vector<RunConditions> runs;
  for (int i = 0; i < 5; ++i) {
    NodeLoad node{.host = "vm",
                  .cores = 2,
                  .own_cores = 2,
                  .seconds = 10,
                  .load_begin = 2,
                  .load_end = 2.1,
                  .others_share = 0.02,
                  .steal_share = 0.01,
                  .elsewhere_share = not_measured};
    runs.push_back(
        {.run = "run" + std::to_string(i), .point = "p", .nodes = {node}, .probes = {{"vm", 100.0 + i}}, .step_spread = 1.2});
  }
  return runs;
}

} // namespace

TEST_CASE("quiet runs have nothing said about them, and a machine that others use, or a hypervisor takes, is told, also if all "
          "runs had it")
{
  CHECK(busy_runs(quiet_runs()).empty());
  auto runs = quiet_runs(), all = runs, stolen = runs;
  runs[0].nodes[0].others_share = 0.3;
  runs[2].nodes[0].others_share = 0.48;
  runs[4].nodes[0].others_share = 0.12;
  const auto busy = busy_runs(runs);
  REQUIRE(busy.size() == 3);
  CHECK(busy[1].run == "run2");
  CHECK(busy[1].others_share == 0.48);
  for (auto& run : all) run.nodes[0].others_share = 0.5;
  CHECK(busy_runs(all).size() == 5);
  stolen[1].nodes.push_back(stolen[1].nodes[0]);
  stolen[1].nodes[1].steal_share = 0.08;
  REQUIRE(busy_runs(stolen).size() == 1);
  CHECK(busy_runs(stolen)[0].steal_share == 0.08);
}

TEST_CASE("a load average counts where the kernel tells no shares, and when it is above the cores")
{
  auto runs = quiet_runs();
  for (auto& run : runs) run.nodes[0].load_end = 9.8;
  CHECK(busy_runs(runs).empty()); // it may be the run's own, or over
  for (auto& run : runs) run.nodes[0].others_share = not_measured;
  REQUIRE(busy_runs(runs).size() == 5);
  CHECK(busy_runs(runs)[0].load == 9.8);
  CHECK(busy_runs(runs)[0].cores == 2);
  for (auto& run : runs) run.nodes[0].load_end = 3.9;
  CHECK(busy_runs(runs).empty());
}

TEST_CASE("a probe far below the same node's other ones is told, with three of them at least")
{
  auto runs = quiet_runs();
  runs[3].probes["vm"] = 60;
  REQUIRE(busy_runs(runs).size() == 1);
  CHECK(busy_runs(runs)[0].probe_slower_by == Approx(0.41).epsilon(0.01));
  runs[3].probes["vm"] = 80;
  CHECK(busy_runs(runs).empty()); // within a quarter
  runs[3].probes = {{"other", 60}};
  CHECK(busy_runs(runs).empty()); // another node
  runs.resize(4);
  runs.erase(runs.begin(), runs.begin() + 2);
  runs[1].probes = {{"vm", 20}};
  CHECK(busy_runs(runs).empty()); // of two nobody is the odd one
}

TEST_CASE("step times that scatter twice as much as the median of the repeats are told")
{
  auto runs = quiet_runs();
  runs[0].step_spread = 3.72;
  REQUIRE(busy_runs(runs).size() == 1);
  CHECK(busy_runs(runs)[0].step_spread_ratio == Approx(3.1));
  runs[0].point = "another point"; // steps of which some communicate scatter by themselves
  CHECK(busy_runs(runs).empty());
}

TEST_CASE("runs that were not asked about have nothing said about them, and the others are compared with them")
{
  auto runs = quiet_runs();
  runs[0].nodes[0].others_share = 0.5;
  runs[1].probes["vm"] = 50;
  for (auto& run : runs) run.asked = run.run == "run1";
  const auto busy = busy_runs(runs);
  REQUIRE(busy.size() == 1);
  CHECK(busy[0].run == "run1");
}

TEST_CASE("a run may have several reasons")
{
  auto runs = quiet_runs();
  runs[0].nodes[0].others_share = 0.5;
  runs[0].step_spread = 2.4;
  runs[1].nodes[0].steal_share = 0.06;
  const auto busy = busy_runs(runs);
  REQUIRE(busy.size() == 2);
  CHECK(busy[0].others_share == 0.5);
  CHECK(busy[0].step_spread_ratio == Approx(2));
  CHECK(busy[0].steal_share == 0);
  CHECK(busy[1].steal_share == 0.06);
}

TEST_CASE("runs that a CPU quota held back are told as such, and their slow probes and scattered steps are not another cause")
{
  auto runs = quiet_runs();
  runs[1].nodes[0].throttled_share = 0.75;
  runs[1].nodes[0].quota_cores = 0.5;
  runs[1].probes["vm"] = 20;
  runs[1].step_spread = 9;
  runs[2].nodes[0].throttled_share = 0.04; // too little to matter
  runs[3].nodes[0].throttled_share = 0.06;
  CHECK(busy_runs(runs).empty());
  const auto throttled = throttled_runs(runs);
  REQUIRE(throttled.size() == 2);
  CHECK(throttled[0].run == "run1");
  CHECK(throttled[0].share == 0.75);
  CHECK(throttled[0].quota_cores == 0.5);
  runs[1].nodes[0].throttled_share = not_measured;
  CHECK(busy_runs(runs).size() == 1);
}
