// Simulated runs as Slurm jobs: a job of one core, whatever the size of the simulated machine.
#include "tests/cluster/playground.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

TEST_CASE("a simulation of more nodes than the cluster has is a job of one core")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  const std::string recipe = "version: 1\nname: sim\nmodel: {name: lenet}\ndata: {name: synthetic}\n"
                             "train: {batch_per_rank: 8, steps: 4, warmup_steps: 1, eval_every_epochs: 0, modelled_rate: 1000}\n"
                             "sync: {allreduce: ring}\nresources: {ranks_per_node: 2}\nstudy: {mode: weak, nodes: [2, 16]}\n";
  CHECK(user.sweep(recipe, {"--platform", "ethernet-10g"}).at("counts") == Json{{"submitted", 2}});
  CHECK(user.wait() == 0);
  CHECK(user.states() == Json{{"succeeded", 2}});
  const auto rows = user.json({"query", "SELECT nodes, ranks, throughput, label FROM runs_flat ORDER BY nodes"}).at("rows");
  REQUIRE(rows.size() == 2);
  CHECK(rows.at(0).at("ranks") == 4);
  CHECK(rows.at(1).at("ranks") == 32);
  CHECK(rows.at(1).at("label") == "simulated nodes=16");
  CHECK(rows.at(1).at("throughput").get<double>() > rows.at(0).at("throughput").get<double>());
  for (const auto& run : user.run_folders()) {
    const auto submission = read_submission(newest_attempt(run));
    REQUIRE(submission);
    const auto job = cluster.slurm({"scontrol", "show", "job", "-o", submission->job_id});
    INFO(job);
    CHECK(job.find(" NumNodes=1 ") != std::string::npos);
    CHECK(job.find(" NumTasks=1 ") != std::string::npos);
  }
}
