// Simulated runs in recipes: where a platform's figures come from, and what is refused with its place.
#include "recipes/reading/platforms.hpp"

#include "core/text.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

// A recipe of a simulated run with nothing wrong, and with `more` appended.
std::string simulated(const std::string& more, const std::string& sync = "{allreduce: ring}")
{
  return "version: 1\nmodel: {name: lenet}\ndata: {name: synthetic}\ntrain: {batch_per_rank: 4, steps: 10, modelled_rate: 100}\n"
         "sync: " +
         sync + "\n" + more;
}

constexpr const char* own_block = "platform: {bandwidth: 10 Gbit/s, latency: 20us, memory_bandwidth: 5 GB/s, nodes: 8}\n";

const RunSpec& first_run(const Plan& plan) { return plan.runs.front(); }

} // namespace

TEST_CASE("a platform of the recipe's own block is called custom, and its units are understood")
{
  const auto plan = plan_of(simulated("resources: {platform: custom, nodes: 8}\n" + std::string(own_block)));
  const auto& run = first_run(plan);
  CHECK(run.is_simulated());
  CHECK(run.platform.bandwidth == 1.25e9);
  CHECK(run.platform.latency_s == Approx(20e-6));
  CHECK(run.platform.memory_bandwidth == 5e9);
  CHECK(run.label == "simulated");
}

TEST_CASE("figures of the recipe override those of a shipped platform, and the option --platform overrides the recipe's platform")
{
  const auto text = simulated("resources: {platform: custom}\nplatform: {latency: 7us}\n");
  LoadOptions on_taihulight;
  on_taihulight.platform = "taihulight";
  const auto run = first_run(plan_of(text, on_taihulight));
  CHECK(run.resources.platform == "taihulight");
  CHECK(run.platform.latency_s == Approx(7e-6));
  CHECK(run.platform.bandwidth == 12e9);
  CHECK(run.platform.nodes_per_supernode == 256);
  CHECK(run.resources.nodes_per_supernode == 256);
}

TEST_CASE("a platform's file of one's own is found beside the recipe and called as the file")
{
  const TemporaryFolder folder;
  folder.write("my-cluster.yaml", "description: ours\nplatform: {bandwidth: 1 GB/s, memory_bandwidth: 8 GB/s}\n");
  const auto plan = load_plan(folder.write("r.yaml", simulated("resources: {platform: ./my-cluster.yaml}\n")), {});
  CHECK(first_run(plan).resources.platform == "my-cluster");
  CHECK(first_run(plan).platform.bandwidth == 1e9);
  folder.write("my-cluster.yaml", "platform: {bandwith: 1 GB/s}\n");
  CHECK(errors_in(folder, "r.yaml")
            .starts_with("my-cluster.yaml:1:12: unknown key `bandwith` in `platform`; did you mean `bandwidth`?"));
}

TEST_CASE("a sweep over platforms simulates each point on its own")
{
  const auto plan = plan_of(simulated("sweep: {matrix: {resources.platform: [ethernet-10g, ethernet-25g]}}\n"));
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[0].label == "simulated platform=ethernet-10g");
  CHECK(plan.runs[0].platform.bandwidth == 1.18e9);
  CHECK(plan.runs[1].platform.bandwidth == 2.94e9);
}

TEST_CASE("every shipped platform simulates a run, and says what it describes and where each figure comes from")
{
  const auto platforms = list_platforms();
  CHECK(platforms.size() >= 9);
  for (const auto& platform : platforms) {
    INFO(platform.name);
    CHECK_FALSE(platform.description.empty());
    CHECK(first_run(plan_of(simulated("resources: {platform: " + platform.name + "}\n"))).platform.bandwidth > 0);
    for (const auto& line : split(platform.text, '\n'))
      if (line.starts_with("  ")) CHECK(line.find(" # ") != std::string::npos);
  }
}

TEST_CASE("an unknown platform, what is impossible on one and what cannot be simulated is refused with its place and what can")
{
  const std::string on = "resources: {platform: ethernet-10g}\n", rate = "`platform.bandwidth`";
  check_refused(
      [](const std::string& more) { return errors_of(simulated(more)); },
      {{"resources: {platform: taihuligth}\n", "r.yaml:6:23: there is no platform `taihuligth`; did you mean `taihulight`?"},
       {"resources: {platform: custom, nodes: 9}\n" + std::string(own_block),
        "r.yaml:6:38: the run asks for 9 nodes of the platform"},
       {"resources: {platform: ethernet-10g, ranks_per_node: 4}\nplatform: {ranks_per_node: 2}\n",
        "r.yaml:6:53: the run asks for 4 ranks on a node of the platform `ethernet-10g`, which holds 2"},
       {on + "platform: {bandwidth: 0 GB/s}\n",
        "r.yaml:7:23: " + rate + " must be a rate such as `10 Gbit/s` or `1.25 GB/s`, not"}});
  using Catch::Contains;
  CHECK_THAT(errors_of(simulated("resources: {platform: taihuligth}\n")), Contains("ethernet-10g"));
  CHECK_THAT(errors_of(simulated("resources: {platform: custom}\n")), Contains(rate + " is missing: the simulation needs it"));
  CHECK_THAT(errors_of(simulated(own_block)), Contains("the block `platform` has an effect only in a simulated run"));
  CHECK_THAT(errors_of(simulated(on, "{allreduce: mpi}")),
             Contains("the allreduce `mpi` cannot be simulated; set `sync.allreduce` to ring"));
  CHECK(errors_of(simulated(on, "{allreduce: dynamic}")) == "");
  CHECK(errors_of(simulated(on, "{strategy: easgd, servers: 1}\noptimizer: {name: sgd}"),
                  with_set({"resources.ranks_per_node=2"})) == ""); // easgd makes no allreduce
  CHECK_THAT(errors_of(simulated(on), with_set({"train.modelled_rate=0"})), Contains("give `train.modelled_rate` in samples/s"));
  CHECK_THAT(errors_of(simulated(on), with_set({"train.target_accuracy=0.9"})), Contains("so it has no accuracy"));
}

TEST_CASE("a communication thread and Hogwild's server threads are simulated, and the run's job still takes one core")
{
  const std::string on = "resources: {platform: ethernet-10g, nodes: 4}\n";
  for (const std::string sync :
       {"{allreduce: ring, progress: thread}", "{allreduce: hierarchical, progress: thread}",
        "{strategy: sync-easgd, overlap: 3, allreduce: ring, progress: thread}",
        "{strategy: hogwild-sgd, servers: 1, server_threads: 4}", "{strategy: hogwild-easgd, servers: 2, server_threads: 4}"}) {
    INFO(sync);
    const auto text = simulated(on + "optimizer: {name: sgd}\n", sync);
    REQUIRE(errors_of(text) == "");
    CHECK(first_run(plan_of(text)).cores() == 1);
    CHECK(first_run(plan_of(text)).job_side_threads() == 0);
  }
}
