// Runs, sweeps and ladders as Slurm jobs.
#include "tests/cluster/playground.hpp"

#include "core/text.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

std::vector<std::string> hosts_of(const std::filesystem::path& run)
{
  const auto begin = read_begin(newest_attempt(run));
  REQUIRE(begin);
  std::vector<std::string> hosts = begin->rank_hosts;
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

void check_all_at_first_try(const ClusterUser& user, std::size_t count)
{
  CHECK(user.states() == Json{{"succeeded", count}});
  for (const auto& run : user.runs()) CHECK(run.at("attempt") == 1);
  check_nothing_ran_twice(user);
}

} // namespace

TEST_CASE("a run trains on the nodes it asked for, in a job that carries its key and token, and runs of one shape are one array, "
          "of which "
          "no more run at a time than was asked for")
{
  const Cluster cluster({"--nodes", "2"});
  const ClusterUser user(cluster), sweeper(cluster), mixer(cluster);
  user.sweep(cluster_recipe(a_moment, "resources: {nodes: 2, ranks_per_node: 2}\n"));
  CHECK(user.wait() == 0);
  check_all_at_first_try(user, 1);
  const auto run = user.run_folders().at(0);
  CHECK(hosts_of(run) == std::vector<std::string>{"node0", "node1"});
  const auto submission = read_submission(newest_attempt(run));
  REQUIRE(submission);
  const auto job = cluster.slurm({"scontrol", "show", "job", "-o", submission->job_id});
  const auto batch = submission->token.substr(0, submission->token.find('.'));
  CHECK_THAT(job, Catch::Contains("JobName=dtctl:cluster ") &&
                      Catch::Contains("Comment=dtctl:" + batch + " " + run.filename().string() + " "));

  const auto recipe = cluster_recipe(a_moment, "sweep: {matrix: {train.seed: [1, 2, 3, 4, 5, 6]}}\n");
  CHECK(sweeper.sweep(recipe, {"--max-jobs", "2"}).at("counts") == Json{{"submitted", 6}});
  CHECK(slurm_jobs(sweeper).size() == 1);
  CHECK_THAT(cluster.slurm({"scontrol", "show", "job", "-o"}), Catch::Contains("ArrayTaskThrottle=2 "));
  CHECK(sweeper.wait() == 0);
  check_all_at_first_try(sweeper, 6);
  CHECK(sweeper.sweep(recipe).at("counts") == Json{{"already_done", 6}});

  mixer.sweep(cluster_recipe(a_moment, "study: {mode: weak, nodes: [1, 2], repeats: 2}\n"));
  CHECK(slurm_jobs(mixer).size() == 2); // one for each shape
  CHECK(mixer.wait() == 0);
  check_all_at_first_try(mixer, 4);
}

TEST_CASE("a partition that does not exist is refused, and runs are found by the ids of jobs, tasks, arrays and earlier attempts")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  const auto refused = user.try_sweep(cluster_recipe(a_moment), {"--set", "resources.partition=nowhere", "--json"});
  INFO(refused.out << refused.err);
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.out, Catch::Contains("nvalid partition"));
  CHECK(cluster.slurm({"squeue", "-h"}).empty());

  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.sweep(cluster_recipe(a_moment, "sweep: {matrix: {train.seed: [1, 2]}}\nstudy: {repeats: 2}\n"));
  const auto array = *slurm_jobs(user).begin();
  CHECK(cluster.slurm({"squeue", "-h", "-o", "%i %j"}) == array + "_[0-3] dtctl:cluster");
  CHECK(user.json({"status", array}).at("runs").size() == 4);
  CHECK(user.json({"status", array + "_[0-3]"}).at("runs").size() == 4);
  const auto one = user.json({"explain", array + "_2"}).at("runs");
  REQUIRE(one.size() == 1);
  CHECK(one[0].at("job_id") == array + "_2");
  CHECK(user.run({"status", array + "_2"}).out.find(" " + array + "_2 ") != std::string::npos);
  CHECK(user.run({"explain", array + "_2"}).out.find("job") != std::string::npos);
  CHECK(user.run({"status", array + "_4"}).exit_code == 2);
  CHECK(user.json({"cancel", array + "_2"}).at("cancelled") == 1);
  CHECK(user.json({"retry", array + "_2"}).at("exit_code") == 0);
  const auto again = user.json({"status", array + "_2"}).at("runs");
  REQUIRE(again.size() == 1);
  CHECK(again[0].at("attempt") == 2);
  CHECK(again[0].at("job_id") != array + "_2");
  CHECK(again[0].at("name") == one[0].at("name"));
  user.run({"cancel", "all"});
}

TEST_CASE(
    "a sweep larger than MaxArraySize is split into as few arrays as there must be, and cancelled as one before any run starts")
{
  const Cluster cluster({"--nodes", "1", "--set", "MaxArraySize=4"});
  const ClusterUser user(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.sweep(cluster_recipe(a_moment, "sweep: {matrix: {train.seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}\n"));
  CHECK(slurm_jobs(user).size() == 3);
  CHECK(user.states() == Json{{"queued", 10}});
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 10);
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
  CHECK(eventually([&] { return cluster.slurm({"squeue", "-h"}).empty(); }, 20));
  CHECK(user.states() == Json{{"cancelled", 10}});
  for (const auto& run : user.run_folders()) CHECK_FALSE(read_begin(newest_attempt(run)));
}

TEST_CASE("a ladder is one job of the largest size, and each run has the first of its nodes")
{
  const Cluster cluster({"--nodes", "4"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(a_moment, "study: {mode: weak, nodes: [1, 2, 4], repeats: 2, layout: ladder}\n"));
  CHECK(slurm_jobs(user).size() == 1);
  CHECK(cluster.slurm({"scontrol", "show", "job", "-o"}).find("NumNodes=4") != std::string::npos);
  CHECK(user.wait(150) == 0);
  check_all_at_first_try(user, user.run_folders().size());
  CHECK(user.run_folders().size() > 6); // the controls
  const std::vector<std::string> all{"node0", "node1", "node2", "node3"};
  for (const auto& run : user.run_folders()) {
    const auto hosts = hosts_of(run);
    CHECK(hosts == std::vector<std::string>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(hosts.size())));
  }
}
