#include "store/analysis/doubts/busy_machine.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

using Lines = std::vector<std::string>;

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

TEST_CASE("quiet runs have nothing said about them") { CHECK(busy_runs(quiet_runs()).empty()); }

TEST_CASE("a neighbour on the ranks' cores is told with the runs it hit")
{
  auto runs = quiet_runs();
  runs[0].nodes[0].others_share = 0.3;
  runs[2].nodes[0].others_share = 0.48;
  runs[4].nodes[0].others_share = 0.12;
  const auto busy = busy_runs(runs);
  REQUIRE(busy.size() == 3);
  CHECK(busy[1].run == "run2");
  CHECK(busy[1].others_share == 0.48);
  CHECK(describe(busy, runs.size()) == Lines{"3 of 5 runs: other processes took up to 48 % of the cores that the ranks needed"});
}

TEST_CASE("a busy machine is told also when all runs of a study had the same neighbour")
{
  auto runs = quiet_runs();
  for (auto& run : runs) run.nodes[0].others_share = 0.5;
  CHECK(busy_runs(runs).size() == 5);
}

TEST_CASE("time that the hypervisor took for other machines is told")
{
  auto runs = quiet_runs();
  runs[1].nodes.push_back(runs[1].nodes[0]);
  runs[1].nodes[1].steal_share = 0.08;
  CHECK(describe(busy_runs(runs), 5) ==
        Lines{"1 of 5 runs: the hypervisor took up to 8 % of the cores for other virtual machines"});
}

TEST_CASE("a load average counts where the kernel tells no shares, and when it is above the cores")
{
  auto runs = quiet_runs();
  for (auto& run : runs) run.nodes[0].load_end = 9.8;
  CHECK(busy_runs(runs).empty()); // it may be the run's own, or over
  for (auto& run : runs) run.nodes[0].others_share = not_measured;
  CHECK(describe(busy_runs(runs), 5) == Lines{"5 of 5 runs: the load average was up to 9.8 on 2 cores"});
  for (auto& run : runs) run.nodes[0].load_end = 3.9;
  CHECK(busy_runs(runs).empty());
}

TEST_CASE("a probe far below the same node's other ones is told, with three of them at least")
{
  auto runs = quiet_runs();
  runs[3].probes["vm"] = 60;
  CHECK(describe(busy_runs(runs), 5) == Lines{"1 of 5 runs: matrix products before the first step were up to 41 % slower than "
                                              "the median on the same node"});
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
  CHECK(describe(busy_runs(runs), 5) ==
        Lines{"1 of 5 runs: step times scattered up to 3.1 times as much as the median of the repeats"});
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

TEST_CASE("several reasons have a line each, with the number of its runs")
{
  auto runs = quiet_runs();
  runs[0].nodes[0].others_share = 0.5;
  runs[0].step_spread = 2.4;
  runs[1].nodes[0].steal_share = 0.06;
  CHECK(describe(busy_runs(runs), 5) ==
        Lines{"1 of 5 runs: other processes took up to 50 % of the cores that the ranks needed",
              "1 of 5 runs: the hypervisor took up to 6 % of the cores for other virtual machines",
              "1 of 5 runs: step times scattered up to 2 times as much as the median of the repeats"});
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
  CHECK(describe(throttled, runs.size()) == "2 of 5 runs: a CPU quota of 0.5 cores held the ranks back for up to 75 % of the "
                                            "time; give the job more processor time, or "
                                            "run fewer ranks or threads");
  runs[1].nodes[0].throttled_share = not_measured;
  CHECK(busy_runs(runs).size() == 1);
}
