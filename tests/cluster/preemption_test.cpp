// Multi-node runs under mpirun that Slurm takes off their nodes in the middle of a long step.
#include "tests/cluster/playground.hpp"
#include "tests/support/held_ranks.hpp"

#include "core/files/file.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;
namespace fs = std::filesystem;

namespace {

const Words patient = with(soon_again, {"--set", "KillWait=30"});

// Two partitions over all nodes, of which the second preempts jobs of the first.
Words preempting(int nodes, const std::string& grace)
{
  const auto all = " Nodes=node[0-" + std::to_string(nodes - 1) + "] MaxTime=INFINITE State=UP ";
  return {"--set", "PreemptType=preempt/partition_prio",
          "--set", "PreemptMode=REQUEUE",
          "--set", "PartitionName=main Default=YES PriorityTier=1" + all + grace,
          "--set", "PartitionName=urgent PriorityTier=9 PreemptMode=OFF" + all};
}

// A user whose ranks can be held in the midst of a step.
class SlowUser : public ClusterUser {
 public:
  explicit SlowUser(const Cluster& cluster) : ClusterUser(cluster), ranks_(cluster.folder() / "tmp" / "hold") {}

  void train_on(int nodes) const { train(cluster_recipe(for_ever), {"--set", "resources.nodes=" + std::to_string(nodes)}); }
  void train_study(const std::string& study) const { train(cluster_recipe(for_ever, study), {}); }
  // All ranks stay in the midst of a step until release(): one at least is held before its call of MPI, and the others are held
  // too or wait inside MPI for those that are.
  bool hold() const
  {
    ranks_.hold();
    return eventually([&] { return ranks_.count() > 0; });
  }
  void release() const { ranks_.release(); }
  fs::path run_folder() const { return run_folders().at(0); }
  std::string only_state() const { return runs().at(0).at("state"); }
  std::string job() const { return read_submission(newest_attempt(run_folder()))->job_id; }

 private:
  void train(const std::string& recipe, const Words& more) const
  {
    sweep(recipe, with(with({"--set", "resources.requeue=3"}, more), ranks_.options()));
    REQUIRE(ClusterUser::train(1));
  }
  HeldRanks ranks_;
};

// The step that the ranks are in goes on for longer than mpirun gives its ranks once it has seen the signal.
void finish_the_step(const SlowUser& user, const AttemptFolder& attempt)
{
  REQUIRE(eventually([&] { return fs::exists(attempt.dump()); })); // a rank has taken the signal
  CHECK(user.only_state() != "failed");
  std::this_thread::sleep_for(std::chrono::seconds(3));
  CHECK_FALSE(engines_in(attempt.path()).empty());
  user.release();
  REQUIRE(eventually([&] { return read_end(attempt).has_value(); }));
}

// The attempt stopped in order, and the one after it goes on with the next step.
void check_goes_on(const SlowUser& user, const AttemptFolder& attempt)
{
  const auto run = attempt.run_folder();
  REQUIRE(eventually([&] { return newest_attempt(run).number() == attempt.number() + 1 && is_training(run); }));
  const auto preempted = read_preemption(attempt);
  REQUIRE(preempted);
  CHECK(preempted->step > 0);
  CHECK(preempted->checkpoint == "step-" + std::to_string(preempted->step) + ".safetensors");
  const auto next = newest_attempt(run).events();
  const auto first = "step " + std::to_string(preempted->step + 1) + " ";
  CHECK(eventually([&] { return read_file_if_exists(next).value_or("").starts_with(first); }));
  check_nothing_ran_twice(user);
}

} // namespace

TEST_CASE("a run on two nodes that is requeued in a long step writes its checkpoint, is queued meanwhile and goes on from there")
{
  const Cluster cluster(with({"--nodes", "2"}, patient));
  SlowUser user(cluster);
  user.train_on(2);
  const AttemptFolder first(user.run_folder(), 1);
  REQUIRE(user.hold());
  cluster.slurm({"scontrol", "requeue", user.job()});
  finish_the_step(user, first);
  CHECK(user.only_state() == "queued");
  CHECK(user.run({"status", "--follow", "all", "--timeout", "1s"}).exit_code == 124);
  check_goes_on(user, first);
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(user.wait() == 1);
}

TEST_CASE("a run on four nodes that is preempted in a long step writes its checkpoint, and can be cancelled while it waits for "
          "its next start")
{
  const Cluster cluster(with(with({"--nodes", "4"}, patient), preempting(4, "")));
  SlowUser user(cluster);
  user.train_on(4);
  const AttemptFolder first(user.run_folder(), 1);
  REQUIRE(user.hold());
  cluster.slurm({"sbatch", "-p", "urgent", "--exclusive", "-N4", "-t5", "-o", "/dev/null", "--wrap", "sleep 200"});
  finish_the_step(user, first);
  REQUIRE(user.reach("queued", 1));
  const auto preempted = read_preemption(first);
  REQUIRE(preempted);
  CHECK_FALSE(preempted->checkpoint.empty());
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(user.wait() == 1);
  CHECK(user.states() == Json{{"cancelled", 1}});
  CHECK(cluster.slurm({"squeue", "-h", "-p", "main"}).empty());
  CHECK(newest_attempt(user.run_folder()).number() == 1);
}

TEST_CASE("a run on two nodes that is preempted with a grace time uses it, and goes on behind its better")
{
  const Cluster cluster(with(with({"--nodes", "2"}, patient), preempting(2, "GraceTime=60")));
  SlowUser user(cluster);
  user.train_on(2);
  const AttemptFolder first(user.run_folder(), 1);
  REQUIRE(user.hold());
  cluster.slurm({"sbatch", "-p", "urgent", "--exclusive", "-N2", "-t1", "-o", "/dev/null", "--wrap", "true"});
  finish_the_step(user, first);
  check_goes_on(user, first);
}

TEST_CASE("a program that does nothing about signals is started again after a preemption with a grace time")
{
  const Cluster cluster(with(with({"--nodes", "5"}, patient), preempting(5, "GraceTime=60")));
  const std::string srun = "launcher: srun, launcher_args: ['--mpi=none']";
  struct Way {
    std::string resources;
    std::size_t nodes;
    ClusterUser user;
  };
  const Way ways[]{{"nodes: 1, " + srun, 1, ClusterUser(cluster)}, // all of them at once
                   {"nodes: 2, " + srun, 2, ClusterUser(cluster)},
                   {"nodes: 2, launcher: mpirun", 2, ClusterUser(cluster)}};
  for (const auto& [resources, nodes, user] : ways) {
    user.dtctl().write("train.py", "import dtctl_report as report, os, time\n"
                                   "begun = os.environ['DTCTL_KEEP_FOLDER'] + '/begun-' + os.environ['RANK']\n"
                                   "first = not os.path.exists(begun)\n"
                                   "open(begun, 'w').close()\n"
                                   "report.begin()\nreport.step(loss=1.0, samples=10)\n"
                                   "if first: time.sleep(1000)\n"
                                   "for i in range(8): report.step(loss=1.0, samples=10)\nreport.result()\n");
    user.sweep("version: 1\nname: own\nprogram:\n  command: [python3, train.py]\n  files: [train.py]\nresources: {requeue: 3, " +
               resources + "}\n");
  }
  for (const auto& way : ways) {
    const auto run = way.user.run_folders().at(0);
    REQUIRE(eventually([&] { return names_in(run / "keep").size() == way.nodes && read_heartbeat(AttemptFolder(run, 1)); }, 60));
  }
  cluster.slurm({"sbatch", "-p", "urgent", "--exclusive", "-N5", "-t1", "-o", "/dev/null", "--wrap", "true"});
  for (const auto& [resources, nodes, user] : ways) {
    INFO(resources);
    const auto run = user.run_folders().at(0);
    CHECK(user.wait(150) == 0);
    INFO(user.runs().dump());
    CHECK(user.states() == Json{{"succeeded", 1}});
    CHECK(attempt_numbers(run).size() == 2);
    CHECK(read_preemption(AttemptFolder(run, 1)).has_value());
    check_nothing_ran_twice(user);
  }
}

TEST_CASE("a ladder's run that is killed in a step longer than KillWait runs again when its job comes back, and the others keep "
          "their turn")
{
  const Cluster cluster(with({"--nodes", "2", "--set", "KillWait=2"}, soon_again));
  SlowUser user(cluster);
  user.train_study("study: {mode: weak, nodes: [2], repeats: 2, layout: ladder, controls: 0}\n");
  std::string running;
  for (const auto& run : user.runs())
    if (run.at("state") == "running") running = run.at("key");
  const auto folder = user.dtctl().home() / "runs" / running;
  REQUIRE(user.hold());
  cluster.slurm({"scontrol", "requeue", read_submission(AttemptFolder(folder, 1))->job_id});
  REQUIRE(eventually([&] { return engines_in(folder).empty(); }));
  CHECK(user.reach("queued", 2));
  user.release();
  REQUIRE(eventually([&] { return newest_attempt(folder).number() == 2 && is_training(folder); }));
  CHECK(user.states() == Json{{"running", 1}, {"queued", 1}});
  check_nothing_ran_twice(user);
}

TEST_CASE("a run on two nodes that loses one of them is started again on others")
{
  const Cluster cluster(with({"--nodes", "3", "--set", "SlurmdTimeout=5"}, soon_again));
  SlowUser user(cluster);
  user.train_on(2);
  const auto run = user.run_folder();
  const auto hosts = read_begin(AttemptFolder(run, 1))->rank_hosts;
  REQUIRE(hosts.size() == 2);
  // Without the third node Slurm cannot start the run again before the test has seen that it is queued.
  std::string spare;
  for (const char* node : {"node0", "node1", "node2"})
    if (std::ranges::count(hosts, node) == 0) spare = node;
  cluster.slurm({"scontrol", "update", "NodeName=" + spare, "State=DRAIN", "Reason=test"});
  cluster.hurt({"kill-node", hosts[1]});
  REQUIRE(eventually([&] { return read_end(AttemptFolder(run, 1)).has_value(); }));
  CHECK(user.reach("queued", 1));
  cluster.slurm({"scontrol", "update", "NodeName=" + spare, "State=RESUME"});
  REQUIRE(eventually([&] { return newest_attempt(run).number() == 2 && is_training(run); }));
  CHECK(user.only_state() == "running");
  check_nothing_ran_twice(user);
}
