// Full disks of Slurm, and a configuration that is wrong.
#include "tests/cluster/playground.hpp"

#include "core/files/file.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

TEST_CASE("a full spool of the controller refuses a sweep in words, and the same sweep works when there is room again",
          "[commands]")
{
  const Cluster cluster({"--nodes", "1", "--small-spool"});
  const ClusterUser user(cluster);
  cluster.hurt({"fill-spool", "state"});
  const auto refused = user.try_sweep(cluster_recipe(a_moment));
  INFO(refused.out << refused.err);
  CHECK(refused.exit_code == 3);
  cluster.hurt({"free-spool"});
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}).at("exit_code") == 0);
  check_nothing_ran_twice(user);
}

TEST_CASE("a full spool of the nodes keeps a run from starting: it is not taken for done, and runs when there is room again")
{
  const Cluster cluster({"--nodes", "1", "--small-spool"});
  const ClusterUser user(cluster);
  cluster.hurt({"fill-spool", "nodes"});
  user.sweep(cluster_recipe(a_moment));
  CHECK_FALSE(eventually([&] { return user.states() == Json{{"succeeded", 1}}; }, 4));
  cluster.hurt({"free-spool"});
  cluster.slurm({"scontrol", "update", "nodename=node0", "state=resume"});
  const auto id = *slurm_jobs(user).begin();
  cluster.slurm({"scontrol", "release", id});
  // Slurm cancels a job it could not launch, or holds it: either way it is said, and the run can be had again.
  if (user.wait(60) != 0) CHECK(user.json({"retry", "--failed", "--wait"}).at("exit_code") == 0);
  CHECK(user.states() == Json{{"succeeded", 1}});
  check_nothing_ran_twice(user);
}

TEST_CASE("the first submission from a home that no node has written to warns, unless doctor has run a job that writes into it")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser hasty(cluster), user(cluster);
  const std::string warning = "no node has written to it yet";
  CHECK_THAT(hasty.try_sweep(cluster_recipe(a_moment)).err, Catch::Contains(warning));
  CHECK(hasty.wait() == 0);
  CHECK_THAT(hasty.try_sweep(cluster_recipe(a_moment), {"--force"}).err, !Catch::Contains(warning));

  const auto found = [&] {
    const auto report = user.json({"doctor"});
    for (const auto& finding : report.at("findings"))
      if (finding.at("check") == "home on nodes") return finding;
    return Json();
  };
  const auto good = found();
  INFO(good.dump());
  CHECK(good.at("level") == "ok");
  CHECK_THAT(user.try_sweep(cluster_recipe(a_moment)).err, !Catch::Contains(warning));
  const auto log = user.dtctl().home() / "slurm" / "doctor" / "log";
  std::filesystem::remove(log);
  std::filesystem::create_directories(log / "in the way");
  const auto bad = found();
  INFO(bad.dump());
  CHECK(bad.at("level") == "warn");
  CHECK_THAT(bad.at("found").get<std::string>(), Catch::Contains("could not open"));
}

TEST_CASE("a configuration that is missing, broken or empty gives a sentence and exit code 3, and dtctl lives", "[commands]")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  const auto good = read_file(cluster.configuration());
  for (const auto& text : {std::string(), std::string("gibberish\n"), good + "NoSuchKey=1\n", std::string("missing")}) {
    if (text == "missing")
      std::filesystem::remove(cluster.configuration());
    else
      write_file_atomic(cluster.configuration(), text);
    const auto refused = user.try_sweep(cluster_recipe(a_moment));
    INFO("configuration: " << text.substr(0, 20) << "\n" << refused.out << refused.err);
    CHECK(refused.exit_code == 3);
    CHECK(refused.err.find("slurm.conf") != std::string::npos);
  }
  write_file_atomic(cluster.configuration(), good);
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}).at("exit_code") == 0);
}

TEST_CASE("doctor says that slurmdbd is down, and nothing of ended jobs that it keeps")
{
  const Cluster cluster({"--nodes", "1", "--accounting"});
  const ClusterUser user(cluster);
  const auto level = [&] {
    const auto report = user.json({"doctor"});
    for (const auto& finding : report.at("findings"))
      if (finding.at("check") == "slurm accounting") return finding.at("level").get<std::string>();
    return report.dump();
  };
  CHECK(level() == "ok");
  cluster.hurt({"stop-accounting"});
  CHECK(level() == "warn");
}
