// Jobs that Slurm does not know any more, and what is said of them then.
#include "tests/cluster/playground.hpp"

#include "core/text.hpp"
#include "core/units.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

bool is_forgotten(const Cluster& cluster)
{
  return eventually([&] { return cluster.slurm({"squeue", "-h", "-t", "all"}).empty(); }, 100);
}

// A job that someone else ended before it could leave a word, and that the controller has forgotten.
void lose_a_job(const Cluster& cluster, const ClusterUser& user)
{
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.sweep(cluster_recipe(a_moment));
  cluster.slurm({"scancel", "--user=" + std::string(trim(run_command({"id", "-un"}).out))});
  REQUIRE(is_forgotten(cluster));
}

} // namespace

TEST_CASE("jobs purged before dtctl looks: a result is a success, with and without accounting")
{
  const Cluster cluster({"--nodes", "1", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(a_moment));
  REQUIRE(is_forgotten(cluster));
  CHECK(user.states() == Json{{"succeeded", 1}});
}

TEST_CASE("a forgotten job without a word: no success is made up, and the run can be tried again")
{
  const Cluster cluster({"--nodes", "1", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster);
  lose_a_job(cluster, user);
  const auto run = user.runs()[0];
  INFO(run.dump());
  CHECK(run.at("state") != "succeeded");
  CHECK(run.at("state") != "queued");
  CHECK(run.at("state") != "running");
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
  CHECK(eventually(
      [&] {
        return user.json({"sweep", "recipe.yaml", "--profile", "cluster"}).at("counts") == Json{{"submitted", 1}};
      },
      90));
  CHECK(user.wait() == 0);
}

TEST_CASE("a home that the nodes do not see: the run has failed, with the folder, and stays so when Slurm has forgotten the job")
{
  const Cluster cluster({"--nodes", "1", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.sweep(cluster_recipe(a_moment, "sweep: {matrix: {train.seed: [1, 2]}}\n"));
  const auto folder = user.dtctl().home() / "slurm";
  std::filesystem::rename(folder, user.dtctl().home() / "elsewhere");
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
  REQUIRE(user.reach("failed", 2));
  const auto check = [&] {
    for (const auto& run : user.runs()) {
      CHECK(run.at("state") == "failed");
      CHECK(run.at("cause").get<std::string>().find("could not open the job's output there, because the folder " +
                                                    folder.string()) != std::string::npos);
    }
  };
  check();
  REQUIRE(is_forgotten(cluster));
  check();
  std::filesystem::rename(user.dtctl().home() / "elsewhere", folder);
  CHECK(user.json({"retry", "--failed", "--wait"}).at("exit_code") == 0);
}

TEST_CASE("a job that left no word of its end keeps the failure that Slurm told, when Slurm has forgotten it")
{
  const Cluster cluster({"--nodes", "1", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.sweep(cluster_recipe(a_moment));
  for (const auto& batch : std::filesystem::directory_iterator(user.dtctl().home() / "slurm"))
    std::filesystem::remove(batch.path() / "tasks");
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
  REQUIRE(user.reach("failed", 1));
  const auto cause = user.runs()[0].at("cause");
  REQUIRE(is_forgotten(cluster));
  CHECK(user.runs()[0].at("state") == "failed");
  CHECK(user.runs()[0].at("cause") == cause);
}

TEST_CASE("accounting tells what became of a job that the controller has forgotten")
{
  const Cluster cluster({"--nodes", "1", "--accounting", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster);
  lose_a_job(cluster, user);
  const auto run = user.runs()[0];
  INFO(run.dump());
  CHECK(run.at("state") == "cancelled");
  cluster.hurt({"stop-accounting"});
  CHECK(user.states() == Json{{"cancelled", 1}});
}

TEST_CASE("accounting tells that a run which stopped in order was ended by scancel, when the controller has forgotten it")
{
  const Cluster cluster({"--nodes", "1", "--accounting", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever));
  REQUIRE(user.train(1));
  cluster.slurm({"scancel", *slurm_jobs(user).begin()});
  REQUIRE(is_forgotten(cluster));
  REQUIRE(read_preemption(newest_attempt(user.run_folders().at(0))));
  CHECK(user.reach("cancelled", 1, 20)); // slurmdbd may learn of the end a moment later
  const auto name = std::string(trim(run_command({"id", "-un"}).out));
  CHECK(user.runs().at(0).at("cause").get<std::string>().starts_with("cancelled by " + name + " at step "));
}

TEST_CASE("a controller killed at once forgets jobs and gives their ids to others: they are not taken for ours")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(a_moment));
  const double submitted_unix_s = now_unix_s();
  cluster.hurt({"stop-controller", "--kill"});
  for (const auto* file : {"job_state", "job_state.old", "last_tres"}) // as if it had not been saved yet
    std::filesystem::remove(cluster.folder() / "state" / file);
  cluster.hurt({"start-controller"});
  // A job with the same id that was submitted in the same second is the same to dtctl; Slurm tells times in seconds.
  REQUIRE(eventually([&] { return now_unix_s() > submitted_unix_s + 1; }));
  for (int i = 0; i < 3; ++i) cluster.slurm({"sbatch", "-J", "other", "-o", "/dev/null", "--wrap", "sleep 60"});
  CHECK(user.states() == Json{{"submitted", 1}});
  cluster.slurm({"scancel", "-n", "other"});
  CHECK(user.wait(120) == 1);
  CHECK(user.states() == Json{{"lost", 1}});
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}).at("exit_code") == 0);
  CHECK(user.states() == Json{{"succeeded", 1}});
  check_nothing_ran_twice(user);
}

TEST_CASE("a job that somebody cancelled with scancel is cancelled by them, as the accounting says, waiting or running")
{
  const Cluster cluster({"--nodes", "1", "--accounting"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever, "sweep: {matrix: {train.seed: [1, 2]}}\n"), {"--max-jobs", "1"});
  REQUIRE(user.train(1));
  cluster.slurm({"scancel", *slurm_jobs(user).begin()});
  REQUIRE(user.reach("cancelled", 2));
  const auto self = std::string(trim(run_command({"id", "-un"}).out));
  std::size_t named = 0;
  for (const auto& run : user.runs()) {
    INFO(run.dump());
    if (run.at("cause").get<std::string>().find("cancelled by " + self) == 0) ++named;
  }
  CHECK(named == 2);
}
