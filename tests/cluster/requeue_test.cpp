// Runs that are interrupted and go on: time limit, preemption, a node that is lost under them.
#include "tests/cluster/playground.hpp"
#include "tests/support/held_ranks.hpp"

#include "core/files/file.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// The bits that a run of that recipe ends in when nothing interrupts it.
std::string undisturbed_weights(const ClusterUser& user, const std::string& recipe)
{
  user.sweep(recipe);
  REQUIRE(user.wait(120) == 0);
  return results_of(user.run_folders().at(0)).at(0).weights_hash;
}

// The run has succeeded, in a later attempt, from the checkpoint of an earlier one; the bits it ended in.
std::string resumed_weights(const ClusterUser& user)
{
  CHECK(user.states() == Json{{"succeeded", 1}});
  check_nothing_ran_twice(user);
  const auto run = user.run_folders().at(0);
  CHECK(attempt_numbers(run).size() >= 2);
  const auto results = results_of(run);
  REQUIRE(results.size() == 1);
  CHECK(results[0].resumed_step > 0);
  return results[0].weights_hash;
}

// Whether a rank of the run's first attempt has taken a signal: it asks the others at once what they do.
bool was_told(const ClusterUser& user) { return std::filesystem::exists(AttemptFolder(user.run_folders().at(0), 1).dump()); }

} // namespace

TEST_CASE("a run at its time limit writes a checkpoint, is started again by Slurm, and ends in the same bits as one undisturbed")
{
  const Cluster cluster(with({"--nodes", "2"}, soon_again));
  const ClusterUser user(cluster), other(cluster);
  const auto recipe = cluster_recipe(2000);
  const HeldRanks ranks(cluster.folder() / "tmp" / "hold"); // until the warning has come
  ranks.hold(5);
  Words options{"--set", "resources.time_limit=60s", "--set", "resources.signal_ahead=55s", "--set", "resources.requeue=5"};
  for (const auto& word : ranks.options()) options.push_back(word);
  user.sweep(recipe, options);
  const auto expected = undisturbed_weights(other, recipe);
  CHECK(eventually([&] { return was_told(user); }));
  ranks.release();
  CHECK(user.wait(180) == 0);
  CHECK(resumed_weights(user) == expected);
  const AttemptFolder first(user.run_folders().at(0), 1);
  const auto preempted = read_preemption(first);
  REQUIRE(preempted);
  CHECK(preempted->signal == "SIGUSR1");
  CHECK(preempted->step > 0);
}

TEST_CASE("a preempted run leaves the node in order, comes back behind its better, and ends in the same bits as one undisturbed")
{
  const Cluster cluster(
      with({"--nodes", "1", "--set", "PreemptType=preempt/partition_prio", "--set", "PreemptMode=REQUEUE", "--set",
            "PartitionName=main Nodes=node0 Default=YES MaxTime=INFINITE State=UP PriorityTier=1", "--set",
            "PartitionName=urgent Nodes=node0 MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF"},
           soon_again));
  const ClusterUser user(cluster), other(cluster);
  const auto recipe = cluster_recipe(2000);
  const HeldRanks ranks(cluster.folder() / "tmp" / "hold"); // until the better one has come
  ranks.hold(5);
  Words options{"--set", "resources.requeue=3"};
  for (const auto& word : ranks.options()) options.push_back(word);
  user.sweep(recipe, options);
  REQUIRE(user.train(1));
  cluster.slurm({"sbatch", "-p", "urgent", "--exclusive", "-t1", "-o", "/dev/null", "--wrap", "sleep 2"});
  CHECK(eventually([&] { return was_told(user); }));
  ranks.release();
  CHECK(user.wait(120) == 0);
  CHECK(resumed_weights(user) == undisturbed_weights(other, recipe));
}

TEST_CASE("a run whose slurmd was killed goes on elsewhere, and the old copy is fenced off and ends, and one without requeue "
          "whose node loses "
          "power has failed")
{
  const Cluster cluster(with({"--nodes", "3", "--cpus", "1", "--set", "SlurmdTimeout=5"}, soon_again));
  const ClusterUser user(cluster), other(cluster);
  user.sweep(cluster_recipe(for_ever), {"--set", "resources.requeue=3"});
  other.sweep(cluster_recipe(for_ever));
  REQUIRE(user.train(1));
  REQUIRE(other.train(1));
  const auto run = user.run_folders().at(0);
  const auto begin = read_begin(AttemptFolder(run, 1)), begin_of_other = read_begin(AttemptFolder(other.run_folders().at(0), 1));
  REQUIRE((begin && begin_of_other));
  cluster.hurt({"kill-slurmd", begin->host});
  cluster.hurt({"kill-node", begin_of_other->host});
  REQUIRE(eventually([&] { return attempt_numbers(run).size() == 2 && is_training(run); }, 100));
  CHECK(fenced_by(AttemptFolder(run, 1)) == 2);
  CHECK(eventually([&] { return engines_in(AttemptFolder(run, 1).path()).empty(); }, 10));
  CHECK(user.states() == Json{{"running", 1}});
  CHECK(user.runs()[0].at("attempt") == 2);
  cluster.hurt({"start-slurmd", begin->host});
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(user.wait() == 1);
  CHECK(user.states() == Json{{"cancelled", 1}});

  CHECK(other.wait(100) == 1);
  CHECK(other.states() == Json{{"failed", 1}});
  CHECK_THAT(other.runs()[0].at("cause").get<std::string>(), Catch::Contains(begin_of_other->host));
}
