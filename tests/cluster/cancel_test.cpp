// dtctl cancel at every stage of a Slurm job.
#include "tests/cluster/playground.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

bool queue_is_empty(const Cluster& cluster)
{
  return eventually([&] { return cluster.slurm({"squeue", "-h"}).empty(); }, 30);
}

} // namespace

TEST_CASE("of an array the running and the pending tasks can be cancelled one by one", "[commands]")
{
  const Cluster cluster({"--nodes", "1", "--cpus", "2"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever, "sweep: {matrix: {train.seed: [1, 2, 3]}}\n"), {"--max-jobs", "1"});
  REQUIRE(user.train(1));
  CHECK(user.states() == Json{{"running", 1}, {"queued", 2}});
  std::string pending, running;
  for (const auto& run : user.runs()) (run.at("state") == "running" ? running : pending) = run.at("key");
  CHECK(user.json({"cancel", pending}).at("cancelled") == 1);
  CHECK(user.states() == Json{{"running", 1}, {"queued", 1}, {"cancelled", 1}});
  CHECK(user.json({"cancel", running}).at("cancelled") == 1);
  CHECK(user.reach("cancelled", 2));
  REQUIRE(user.train(1)); // the third, now that there is room
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(user.wait() == 1);
  CHECK(user.states() == Json{{"cancelled", 3}});
  CHECK(queue_is_empty(cluster));
  CHECK(eventually([&] { return engines_in(user.dtctl().home()).empty(); }, 20));
}

TEST_CASE("a job that was ended by scancel is cancelled, though its ranks stopped in order, and so are its array's waiting tasks")
{
  const Cluster cluster({"--nodes", "1", "--cpus", "2"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever, "resources: {requeue: 3}\nsweep: {matrix: {train.seed: [1, 2, 3]}}\n"),
             {"--max-jobs", "1"});
  REQUIRE(user.train(1));
  const auto array = *slurm_jobs(user).begin();
  std::string running, waiting;
  for (const auto& run : user.runs()) (run.at("state") == "running" ? running : waiting) = run.at("key");
  const auto attempt = newest_attempt(user.dtctl().home() / "runs" / waiting);
  cluster.slurm({"scancel", read_submission(attempt)->job_id});
  CHECK(user.reach("cancelled", 1));
  cluster.slurm({"scancel", array});
  CHECK(user.reach("cancelled", 3));
  CHECK(queue_is_empty(cluster));
  CHECK(user.wait() == 1);
  CHECK(user.states() == Json{{"cancelled", 3}});
  const AttemptFolder stopped(user.dtctl().home() / "runs" / running, 1);
  CHECK(read_preemption(stopped)); // it was told to stop and did: that is no preemption
  for (const auto& run : user.runs())
    if (run.at("key") == running) CHECK(run.at("cause").get<std::string>().starts_with("cancelled in Slurm at step "));
}

TEST_CASE("of a ladder a waiting run is skipped, a running one makes room for the next, and the rest is cancelled as one")
{
  const Cluster cluster({"--nodes", "2"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever, "study: {mode: weak, nodes: [1, 2], repeats: 2, layout: ladder, controls: 0}\n"));
  REQUIRE(user.train(1));
  CHECK(user.states() == Json{{"running", 1}, {"queued", 3}});
  std::string waiting, running;
  for (const auto& run : user.runs()) (run.at("state") == "running" ? running : waiting) = run.at("key");
  CHECK(user.json({"cancel", waiting}).at("cancelled") == 1);
  CHECK(user.states() == Json{{"running", 1}, {"queued", 2}, {"cancelled", 1}});
  CHECK(user.json({"cancel", running}).at("cancelled") == 1);
  CHECK(user.reach("cancelled", 2));
  REQUIRE(user.train(1));
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 2);
  CHECK(user.wait() == 1);
  CHECK(user.states() == Json{{"cancelled", 4}});
  CHECK(queue_is_empty(cluster));
}
