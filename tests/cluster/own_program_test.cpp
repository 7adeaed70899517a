// Programs of the user on Slurm: two nodes, GPUs, and jobs that are started again.
#include "tests/cluster/playground.hpp"
#include "tests/e2e/python.hpp"

#include "core/files/file.hpp"
#include "core/machine/host_list.hpp"
#include "core/record/load_record.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

const std::string recipe = "version: 1\nname: own\nprogram:\n  command: [python3, train.py]\n  files: [train.py]\n";

// Writes where it runs into the folder that all attempts share, then reports a few steps and a result.
std::string trainer(const std::string& more = "")
{
  return "import dtctl_report as report, os, signal, sys, time\n"
         "keep = os.environ['DTCTL_KEEP_FOLDER']\n"
         "names = ['RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'LOCAL_WORLD_SIZE']\n"
         "words = [os.environ[name] for name in names] + [os.environ.get('CUDA_VISIBLE_DEVICES', '-')]\n"
         "open(keep + '/rank-' + os.environ['RANK'], 'w').write(' '.join(words))\n"
         "report.begin()\nreport.step(loss=1.0, samples=10)\n" +
         more + "\nfor i in range(8): report.step(loss=1.0, samples=10)\nreport.result()\n";
}

std::string launched_by(const std::string& launcher)
{
  return "launcher: " + launcher + (launcher == "srun" ? ", launcher_args: ['--mpi=none']" : "");
}

std::string kept(const ClusterUser& user, const std::string& name)
{
  return read_file_if_exists(user.run_folders().at(0) / "keep" / name).value_or("");
}

// The run has succeeded, with two ranks on each of two nodes.
void check_four_ranks(const ClusterUser& user)
{
  INFO(user.runs().dump());
  CHECK(user.states() == Json{{"succeeded", 1}});
  for (int rank = 0; rank < 4; ++rank)
    CHECK(kept(user, "rank-" + std::to_string(rank)).starts_with(std::to_string(rank) + " " + std::to_string(rank % 2) + " 4 2"));
}

} // namespace

TEST_CASE(
    "a program runs on two nodes through mpirun and through srun: its result is that of all ranks, the cause of a failure names "
    "rank, node, exit code and last line, and ranks of another node on the same host are left in peace")
{
  const Cluster cluster({"--nodes", "2"});
  for (const std::string launcher : {"mpirun", "srun"}) {
    INFO(launcher);
    const ClusterUser user(cluster);
    user.dtctl().write("train.py",
                       trainer(connects + "until = time.process_time() + 1\nwhile time.process_time() < until: pass"));
    user.sweep(recipe + "resources: {nodes: 2, ranks_per_node: 2, " + launched_by(launcher) + "}\n");
    CHECK(user.wait(90) == 0);
    check_four_ranks(user);
    CHECK(results_of(user.run_folders().at(0)).at(0).measured_samples == 4 * 4 * 10);
    // Who else used the nodes is known of both.
    const AttemptFolder attempt(user.run_folders().at(0), 1);
    const auto begin = read_begin(attempt);
    const auto load = read_load(attempt);
    REQUIRE((begin && load));
    std::string hosts; // the nodes are namespaces of one machine, and so one record
    for (const auto& node : load->nodes) hosts += node.host;
    CHECK(hosts == compact_hosts(begin->rank_hosts));
    for (const auto& node : load->nodes) CHECK(node.others_share >= 0);
  }
  const ClusterUser failing(cluster), apart(cluster);
  failing.dtctl().write("train.py", "import os, sys, time\n"
                                    "if os.environ['RANK'] == '2': sys.exit('no data for this rank')\n"
                                    "time.sleep(1000)\n");
  failing.sweep(recipe + "resources: {nodes: 2, ranks_per_node: 2, launch_tries: 1, " + launched_by("srun") + "}\n");
  CHECK(failing.wait(90) == 1);
  CHECK(failing.states() == Json{{"failed", 1}});
  CHECK(failing.runs().at(0).at("cause") == "rank 2 on node1 ended with exit code 1: no data for this rank");

  // The others go on for longer than dtjob waits before it ends what ranks leave behind.
  apart.dtctl().write("train.py", trainer("if os.environ['RANK'] != '0': time.sleep(6)"));
  apart.sweep(recipe + "resources: {nodes: 2, ranks_per_node: 1, " + launched_by("srun") + "}\n");
  CHECK(apart.wait(90) == 0);
  CHECK(apart.states() == Json{{"succeeded", 1}});
  CHECK_THAT(read_file(AttemptFolder(apart.run_folders().at(0), 1).err()), !Catch::Contains("left behind"));
}

TEST_CASE("every rank sees its own GPUs of those that Slurm gave the job, and a job that asks for too many is refused")
{
  const Cluster cluster({"--nodes", "1", "--cpus", "4", "--gpus", "4"});
  const ClusterUser user(cluster), greedy(cluster);
  user.dtctl().write("train.py", trainer());
  user.sweep(recipe + "resources: {ranks_per_node: 2, gpus_per_node: 4, gpus_per_rank: 2}\n");
  CHECK(user.wait(90) == 0);
  INFO(user.runs().dump());
  CHECK(kept(user, "rank-0") == "0 0 2 2 0,1");
  CHECK(kept(user, "rank-1") == "1 1 2 2 2,3");
  greedy.dtctl().write("train.py", trainer());
  greedy.try_sweep(recipe + "resources: {gpus_per_node: 5}\n");
  const auto run = greedy.json({"status", "all"}).at("runs");
  CHECK((run.empty() || run[0].at("state") != "running"));
}

TEST_CASE("a program whose job is requeued goes on in a second attempt from what it has kept")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  user.dtctl().write("train.py", trainer("first = not os.path.exists(keep + '/started')\n"
                                         "open(keep + '/started', 'w').close()\n"
                                         "if first: time.sleep(1000)\n"));
  user.sweep(recipe, {"--set", "resources.requeue=2"});
  REQUIRE(eventually([&] { return is_there(user.run_folders().at(0) / "keep" / "started"); }, 60));
  cluster.slurm({"scontrol", "requeue", *slurm_jobs(user).begin()});
  CHECK(user.wait(150) == 0);
  CHECK(user.states() == Json{{"succeeded", 1}});
  CHECK(attempt_numbers(user.run_folders().at(0)).size() == 2);
  check_nothing_ran_twice(user);
}

TEST_CASE("a daemon that the program leaves behind ends with the run")
{
  const Cluster cluster({"--nodes", "1"});
  for (const std::string launcher : {"mpirun", "srun"}) {
    INFO(launcher);
    const ClusterUser user(cluster);
    user.dtctl().write("train.py", trainer("if os.fork() == 0:\n"
                                           "  os.setsid()\n"
                                           "  if os.fork() != 0: os._exit(0)\n"
                                           "  for descriptor in range(3): os.close(descriptor)\n"
                                           "  open(keep + '/daemon.new', 'w').write(str(os.getpid()))\n"
                                           "  os.rename(keep + '/daemon.new', keep + '/daemon')\n"
                                           "  time.sleep(1000)\n"
                                           "while not os.path.exists(keep + '/daemon'): time.sleep(0.01)\n"));
    user.sweep(recipe + "resources: {" + launched_by(launcher) + "}\n");
    CHECK(user.wait(90) == 0);
    CHECK(user.states() == Json{{"succeeded", 1}});
    const auto daemon = std::stoi(kept(user, "daemon"));
    CHECK(eventually([&] { return !identify_process(daemon); }));
  }
}

TEST_CASE("the rest of a study whose first jobs fail in the same way is held back, and runs when the cause is gone")
{
  const Cluster cluster({"--nodes", "1", "--cpus", "1"});
  const ClusterUser user(cluster);
  user.dtctl().write("train.py", "import no_such_torch\n");
  const auto study = recipe + "study: {repeats: 8}\n";
  user.sweep(study);
  CHECK(user.wait() == 1);
  const auto status = user.json({"status", "all"});
  INFO(status.dump(1));
  CHECK(status.at("states").at("failed") == 3); // one after another on one core
  CHECK(status.at("states").at("cancelled") == 5);
  REQUIRE(status.at("common_causes").size() == 2);
  CHECK(status.at("common_causes")[0].at("cause").get<std::string>().find("No module named 'no_such_torch'") !=
        std::string::npos);
  CHECK(status.at("common_causes")[1].at("held_back") == true);
  CHECK(cluster.slurm({"squeue", "--noheader"}).empty());

  user.dtctl().write("train.py", trainer());
  const auto again = user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"});
  CHECK(again.at("states") == Json{{"succeeded", 8}});
}

TEST_CASE("the same run goes to every node that is up, each alone")
{
  const Cluster cluster({"--nodes", "3"});
  const ClusterUser user(cluster);
  cluster.slurm({"scontrol", "update", "nodename=node1", "state=drain", "reason=test"});
  user.dtctl().write("train.py", trainer());
  user.dtctl().write("own.yaml", recipe);
  CHECK(user.run({"submit", "own.yaml", "--profile", "cluster", "--distribute", "--wait"}).exit_code == 0);
  INFO(user.runs().dump());
  CHECK(user.states() == Json{{"succeeded", 2}});
  const auto nodes = user.json({"results", "own-nodes"}).at("nodes");
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].at("node") == "node0");
  CHECK(nodes[1].at("node") == "node2");
  for (const auto& folder : user.run_folders()) {
    const auto run = read_planned_run(folder);
    const auto begin = read_begin(AttemptFolder(folder, 1));
    REQUIRE(begin);
    CHECK(begin->rank_hosts == std::vector<std::string>{run.spec.resources.nodelist});
  }
}

TEST_CASE(
    "on Slurm a launcher is started once on each node and starts the ranks of its node, and torchrun meets at the port of dtctl")
{
  const Cluster cluster({"--nodes", "2"});
  for (const std::string launcher : {"mpirun", "srun"}) {
    INFO(launcher);
    const ClusterUser user(cluster);
    user.dtctl().write("train.py", trainer());
    user.dtctl().write(
        "start.sh", "for i in $(seq 0 $((DTCTL_RANKS_PER_NODE - 1))); do\n"
                    "  RANK=$((DTCTL_NODE_RANK * DTCTL_RANKS_PER_NODE + i)) LOCAL_RANK=$i LOCAL_WORLD_SIZE=$DTCTL_RANKS_PER_NODE "
                    "WORLD_SIZE=$((DTCTL_NODES * DTCTL_RANKS_PER_NODE)) python3 train.py &\ndone\nwait\n");
    user.sweep("version: 1\nname: own\nprogram:\n  command: [bash, start.sh]\n  files: [train.py, start.sh]\n  launch: per-node\n"
               "resources: {nodes: 2, ranks_per_node: 2, " +
               launched_by(launcher) + "}\n");
    CHECK(user.wait(90) == 0);
    check_four_ranks(user);
    const auto begin = read_begin(AttemptFolder(user.run_folders().at(0), 1));
    REQUIRE(begin);
    CHECK(compact_hosts(begin->rank_hosts) == "node[0-1]");
    CHECK(begin->rank_hosts[1] == begin->rank_hosts[0]);
  }
  if (!has_torch()) return;
  const ClusterUser user(cluster);
  user.dtctl().write("train.py", "import torch.distributed as dist\ndist.init_process_group('gloo')\n" + trainer());
  user.sweep("version: 1\nname: own\nprogram:\n  command: [" + python() +
             ", -m, torch.distributed.run, --redirects, '9:1', --tee, '9:1', train.py]\n  files: [train.py]\n  launch: per-node\n"
             "resources: {nodes: 2, ranks_per_node: 2}\n");
  CHECK(user.wait(120) == 0);
  check_four_ranks(user);
  CHECK(results_of(user.run_folders().at(0)).at(0).measured_samples == 4 * 4 * 10);
}
