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

TEST_CASE("of jobs that Slurm has forgotten a result is a success, and the failure that Slurm told stays, also of a home that no "
          "node sees")
{
  const Cluster cluster({"--nodes", "1", "--set", "MinJobAge=2"});
  const ClusterUser purged(cluster), unseen(cluster), wordless(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  purged.sweep(cluster_recipe(a_moment)); // nobody looks at it before it is forgotten
  unseen.sweep(cluster_recipe(a_moment, "sweep: {matrix: {train.seed: [1, 2]}}\n"));
  wordless.sweep(cluster_recipe(a_moment));
  const auto folder = unseen.dtctl().home() / "slurm", aside = unseen.dtctl().home() / "elsewhere";
  std::filesystem::rename(folder, aside);
  for (const auto& batch : std::filesystem::directory_iterator(wordless.dtctl().home() / "slurm"))
    std::filesystem::remove(batch.path() / "tasks");
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
  REQUIRE(unseen.reach("failed", 2));
  const auto check_unseen = [&] {
    for (const auto& run : unseen.runs()) {
      CHECK(run.at("state") == "failed");
      CHECK_THAT(run.at("cause").get<std::string>(), Catch::Contains(folder.string()));
    }
  };
  check_unseen();
  REQUIRE(wordless.reach("failed", 1));
  const auto told = wordless.runs()[0].at("cause");
  REQUIRE(is_forgotten(cluster));
  check_unseen();
  CHECK(wordless.states() == Json{{"failed", 1}});
  CHECK(wordless.runs()[0].at("cause") == told);
  CHECK(purged.states() == Json{{"succeeded", 1}});
  std::filesystem::rename(aside, folder);
  CHECK(unseen.json({"retry", "--failed", "--wait"}).at("exit_code") == 0);
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

TEST_CASE("a controller killed at once forgets jobs and gives their ids to others: they are not taken for ours")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"}); // a job that has begun would end by itself
  user.sweep(cluster_recipe(a_moment));
  const double submitted_unix_s = now_unix_s();
  cluster.hurt({"stop-controller", "--kill"});
  for (const auto* file : {"job_state", "job_state.old", "last_tres"}) // as if it had not been saved yet
    std::filesystem::remove(cluster.folder() / "state" / file);
  cluster.hurt({"start-controller"});
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
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

TEST_CASE(
    "accounting tells what became of jobs that the controller has forgotten: ended before their start, or stopped by scancel")
{
  const Cluster cluster({"--nodes", "1", "--accounting", "--set", "MinJobAge=2"});
  const ClusterUser user(cluster), stopped(cluster);
  lose_a_job(cluster, user);
  CHECK(user.states() == Json{{"cancelled", 1}});
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});

  stopped.sweep(cluster_recipe(for_ever));
  REQUIRE(stopped.train(1));
  cluster.slurm({"scancel", *slurm_jobs(stopped).begin()});
  REQUIRE(is_forgotten(cluster));
  REQUIRE(read_preemption(newest_attempt(stopped.run_folders().at(0))));
  CHECK(stopped.reach("cancelled", 1, 20)); // slurmdbd may learn of the end a moment later
  const auto name = std::string(trim(run_command({"id", "-un"}).out));
  CHECK_THAT(stopped.runs().at(0).at("cause").get<std::string>(), Catch::StartsWith("cancelled by " + name));
  cluster.hurt({"stop-accounting"});
  for (const auto* one : {&user, &stopped}) CHECK(one->states() == Json{{"cancelled", 1}});
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
