// Limits of the site, jobs that cannot start, suspended jobs, and what is passed on to Slurm behind `--`.
#include "tests/cluster/playground.hpp"

#include "core/text.hpp"

#include <catch2/catch.hpp>

#include <tuple>

using namespace dt;
using namespace dt::test;

namespace {

std::string seeds(int count, const std::string& more = "")
{
  std::vector<std::string> numbers;
  for (int i = 1; i <= count; ++i) numbers.push_back(std::to_string(i));
  return cluster_recipe(a_moment, "sweep: {matrix: {train.seed: [" + join(numbers, ", ") + "]}}\n" + more);
}

const Words enforced{"--nodes", "1", "--accounting", "--set", "AccountingStorageEnforce=associations,limits,qos"};

// This user may have at most `jobs` in the queue, and the controller knows.
void limit_submitted_jobs(const Cluster& cluster, int jobs)
{
  const auto user = std::string(trim(run_command({"id", "-un"}).out));
  cluster.slurm({"sacctmgr", "-i", "add", "account", "lab"});
  cluster.slurm({"sacctmgr", "-i", "add", "user", user, "account=lab"});
  // The controller shows limits of a user only where there is usage, so one of the group, which allows more, tells of the update.
  const auto of_group = std::to_string(100 + jobs);
  cluster.slurm({"sacctmgr", "-i", "modify", "qos", "normal", "set", "MaxSubmitJobsPerUser=" + std::to_string(jobs),
                 "GrpSubmitJobs=" + of_group});
  REQUIRE(eventually([&] {
    return cluster.slurm({"scontrol", "show", "assoc_mgr", "flags=qos"}).find("GrpSubmitJobs=" + of_group + "(") !=
           std::string::npos;
  }));
}

void partition(const Cluster& cluster, const std::string& setting)
{
  cluster.slurm({"scontrol", "update", "partition=main", setting});
}

// `dtctl sweep` of the recipe on the cluster, with words behind `--`.
Json sweep_with(const ClusterUser& user, const std::string& recipe, const Words& options, const Words& behind)
{
  Words words{"--json"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), behind.begin(), behind.end());
  const auto done = user.try_sweep(recipe, words);
  INFO(done.out << done.err);
  REQUIRE(Json::accept(done.out));
  return Json::parse(done.out);
}

constexpr int some_are_deferred = 4; // exit code

Json explanation_of(const ClusterUser& user, const std::string& key) { return user.json({"explain", key}).at("runs").at(0); }

std::string key_with(const ClusterUser& user, const std::string& state)
{
  for (const auto& run : user.runs())
    if (run.at("state") == state) return run.at("key");
  return {};
}

} // namespace

TEST_CASE("a sweep larger than the limit on submitted jobs goes in by portions, and says meanwhile why the rest waits",
          "[commands]")
{
  const Cluster cluster(enforced);
  const ClusterUser user(cluster);
  limit_submitted_jobs(cluster, 3);
  partition(cluster, "state=down");
  const auto sweep = user.sweep(seeds(6), {}, some_are_deferred);
  CHECK(sweep.at("counts") == Json{{"submitted", 3}, {"deferred", 3}});
  CHECK(user.states() == Json{{"queued", 3}, {"planned", 3}});
  const auto waiting = key_with(user, "planned");
  const auto explained = explanation_of(user, waiting);
  CHECK_THAT(explained.at("why").get<std::string>(), Catch::Contains("(QOSMaxSubmitJobPerUserLimit)"));

  // Asked to end, it is never handed over.
  CHECK(user.json({"cancel", waiting}).at("cancelled") == 1);
  CHECK(user.states() == Json{{"queued", 3}, {"planned", 2}, {"cancelled", 1}});

  // One that leaves the queue makes room, which `status` uses.
  CHECK(user.json({"cancel", key_with(user, "queued")}).at("cancelled") == 1);
  REQUIRE(eventually([&] { return user.states() == Json{{"queued", 3}, {"planned", 1}, {"cancelled", 2}}; }));

  // And `wait` stays until the last one has run.
  partition(cluster, "state=up");
  user.wait();
  CHECK(user.states() == Json{{"succeeded", 4}, {"cancelled", 2}});
  check_nothing_ran_twice(user);
}

TEST_CASE("a sweep that waits for room can be submitted again, and plan tells what the cluster can never start for its time, its "
          "size or its account")
{
  const Cluster cluster(enforced);
  const ClusterUser user(cluster), planner(cluster);
  limit_submitted_jobs(cluster, 1);
  partition(cluster, "state=down");
  CHECK(user.sweep(seeds(3), {}, some_are_deferred).at("counts") == Json{{"submitted", 1}, {"deferred", 2}});
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster"}).at("counts") == Json{{"already_active", 1}, {"deferred", 2}});
  limit_submitted_jobs(cluster, 5);
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster"}).at("counts") ==
        Json{{"already_active", 1}, {"submitted", 2}});
  partition(cluster, "state=up");
  CHECK(user.wait() == 0);
  check_nothing_ran_twice(user);

  partition(cluster, "MaxTime=10");
  for (const auto& [resources, misfits, why] : std::vector<std::tuple<std::string, std::size_t, std::string>>{
           {"time_limit: 5m}", 0, ""},
           {"time_limit: 20m}", 1, "at most 10m"},
           {"time_limit: 5m}\nstudy: {mode: weak, nodes: [1, 2, 4]}", 2, "4 nodes"},
           {"time_limit: 5m, ranks_per_node: 3}", 1, "3 cores"},
           {"time_limit: 5m, account: physics}", 1, "one of yours: root, lab"}}) {
    INFO(resources);
    planner.dtctl().write("recipe.yaml", cluster_recipe(a_moment, "resources: {" + resources + "\n"));
    const auto found = planner.json({"sweep", "--dry-run", "recipe.yaml", "--profile", "cluster"}).at("misfits");
    REQUIRE(found.size() == misfits);
    if (misfits > 0) CHECK_THAT(found.back().at("reason").get<std::string>(), Catch::Contains(why));
  }
  CHECK_THAT(planner.run({"sweep", "--dry-run", "recipe.yaml", "--profile", "cluster"}).out, Catch::Contains("cannot start"));
  cluster.hurt({"stop-controller"});
  const auto blind = planner.run({"sweep", "--dry-run", "recipe.yaml", "--profile", "cluster"});
  CHECK(blind.exit_code == 0);
  CHECK_THAT(blind.err, Catch::Contains("is unknown"));
}

TEST_CASE("a job that can never start has a next step in explain, and wait says so once and keeps its time limit", "[commands]")
{
  const Cluster cluster({"--nodes", "1", "--set", "PartitionName=main Nodes=node0 Default=YES MaxTime=10 MaxNodes=1 State=UP"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(a_moment, "resources: {time_limit: 30m}\n"));
  REQUIRE(eventually(
      [&] { return user.runs().at(0).at("waits_for").get<std::string>().find("PartitionTimeLimit") != std::string::npos; }));
  const auto remedy = user.runs().at(0).at("remedy").get<std::string>();
  CHECK_THAT(remedy, Catch::Contains("lower resources.time_limit"));
  const auto explained = explanation_of(user, user.runs().at(0).at("key"));
  CHECK_THAT(explained.at("why").get<std::string>(), Catch::Contains("(PartitionTimeLimit)"));
  CHECK_THAT(explained.at("advice").get<std::string>(), Catch::Contains(remedy));

  const auto waited = user.run({"status", "--follow", "all", "--timeout", "5s"});
  INFO(waited.err);
  CHECK(waited.exit_code == 124);
  const auto place = waited.err.find("(PartitionTimeLimit)");
  CHECK(place != std::string::npos);
  CHECK(waited.err.find("(PartitionTimeLimit)", place + 1) == std::string::npos);
  CHECK_THAT(waited.err, Catch::Contains("1 run cannot start as submitted"));

  // What it says helps: cancelled and submitted again with a lower limit, it runs.
  user.json({"cancel", "all"});
  CHECK(user.sweep(cluster_recipe(a_moment, "resources: {time_limit: 5m}\n")).at("counts") == Json{{"submitted", 1}});
  CHECK(user.wait() == 0);
}

TEST_CASE("a job that waits for one that failed can never start, and one that is held is to be released")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  const auto held = cluster.slurm({"sbatch", "--parsable", "--hold", "--wrap", "true"});
  sweep_with(user, cluster_recipe(a_moment), {}, {"--dependency=afterok:" + held});
  REQUIRE(eventually([&] { return user.runs().at(0).at("waits_for") == "waits for job " + held + " (Dependency)"; }));
  CHECK(user.runs().at(0).at("remedy") == "");
  cluster.slurm({"scancel", held});
  REQUIRE(eventually([&] {
    return user.runs().at(0).at("waits_for").get<std::string>().find("DependencyNeverSatisfied") != std::string::npos;
  }));
  CHECK_THAT(user.runs().at(0).at("remedy").get<std::string>(), Catch::Contains("remove the dependency"));
  user.json({"cancel", "all"});

  sweep_with(user, cluster_recipe(a_moment), {}, {"--hold"});
  const auto job = *slurm_jobs(user).begin();
  CHECK_THAT(user.runs().at(0).at("remedy").get<std::string>(), Catch::Contains("scontrol release " + job));
  cluster.slurm({"scontrol", "release", job});
  CHECK(user.wait() == 0);
}

TEST_CASE("a suspended run is shown as suspended, its remaining time stands still, and it goes on where it was", "[commands]")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever));
  REQUIRE(user.train(1));
  const auto job = *slurm_jobs(user).begin();
  cluster.slurm({"scontrol", "suspend", job});
  REQUIRE(user.reach("suspended", 1));
  const auto attempt = newest_attempt(user.run_folders().at(0));
  const auto progress = [&] { return user.runs().at(0).at("progress"); };
  // Slurm marks the job before it stops the processes. A rank that goes on beats once a second.
  std::optional<Heartbeat> beat;
  Json before;
  REQUIRE(eventually([&] {
    beat = read_heartbeat(attempt);
    before = progress();
    return !eventually([&] { return read_heartbeat(attempt)->unix_s != beat->unix_s; }, 3);
  }));
  CHECK(before.at("remaining_s").is_number());
  CHECK_FALSE(before.at("stalled").get<bool>());
  CHECK(progress() == before);
  CHECK(explanation_of(user, user.runs().at(0).at("key")).at("why") == "it is suspended on node0");

  cluster.slurm({"scontrol", "resume", job});
  REQUIRE(user.reach("running", 1));
  CHECK(eventually([&] { return read_heartbeat(attempt)->step > beat->step; }));
  user.json({"cancel", "all"});
  CHECK(user.wait() == 1);
  CHECK(user.states() == Json{{"cancelled", 1}});
}

TEST_CASE("what stands behind -- reaches Slurm as if sbatch had been given it", "[commands]")
{
  const Cluster cluster(
      {"--nodes", "1", "--cloud", "1", "--set", "GresTypes=gpu", "--set",
       "NodeName=cloud[0-0] NodeAddr=127.0.0.1 CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=4000 "
       "Gres=gpu:8 Feature=fast State=CLOUD"});
  const ClusterUser user(cluster);
  const auto before = cluster.slurm({"sbatch", "--parsable", "--hold", "--wrap", "true"});
  const auto show = [&](const std::string& job) { return cluster.slurm({"scontrol", "show", "job", job}); };
  const std::vector<std::pair<Words, Words>> all{
      {{"--gpus=2"}, {"TresPerJob=gres:gpu:2"}},
      {{"--gpus-per-task=1", "-G", "1"}, {"TresPerTask=gres:gpu:1", "TresPerJob=gres:gpu:1"}},
      {{"--gpus-per-node=2", "--gpus-per-socket=1", "--sockets-per-node=2"},
       {"TresPerNode=gres:gpu:2", "TresPerSocket=gres:gpu:1"}},
      {{"--gpus-per-node=2", "--gres=gpu:2"}, {"TresPerNode=gres:gpu:2"}},
      {{"--time-min=10", "--deadline=2037-01-02T03:04"}, {"TimeMin=00:10:00", "Deadline=2037-01-02T03:04:00"}},
      {{"--hint=nomultithread"}, {"ReqB:S:C:T=0:0:*:1"}},
      {{"--hint=memory_bound"}, {"ReqB:S:C:T=0:0:1:1"}},
      {{"--prefer=fast", "--container=/images/bundle"}, {"Prefer=fast", "Container=/images/bundle"}},
      {{"--dependency=afterany:" + before}, {"Dependency=afterany:" + before + "(unfulfilled)"}}};
  int seed = 0;
  for (const auto& [options, expected] : all) {
    INFO(join(options, " "));
    Words behind{"--hold"};
    behind.insert(behind.end(), options.begin(), options.end());
    const auto sweep =
        sweep_with(user, cluster_recipe(a_moment),
                   {"--set", "train.seed=" + std::to_string(++seed), "--set", "resources.partition=cloud"}, behind);
    INFO(sweep.dump());
    CHECK(sweep.at("counts") == Json{{"submitted", 1}});
    const auto attempt =
        newest_attempt(user.dtctl().home() / "runs" / sweep.at("submissions").at(0).at("key").get<std::string>());
    const auto job = show(read_submission(attempt)->job_id);
    INFO(job);
    for (const auto& words_in_it : expected) CHECK(job.find(words_in_it) != std::string::npos);
  }
}

TEST_CASE("with --max-jobs the sizes of a study run side by side, and no more runs than allowed")
{
  const Cluster cluster({"--nodes", "3"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever, "study: {mode: weak, nodes: [1, 2], repeats: 3}\n"), {"--max-jobs", "2"});
  REQUIRE(user.reach("running", 2));
  std::set<std::int64_t> sizes;
  const auto answer = user.json({"query", "SELECT DISTINCT nodes FROM runs_flat WHERE state = 'running'"});
  for (const auto& row : answer.at("rows")) sizes.insert(row.at("nodes").get<std::int64_t>());
  CHECK(sizes == std::set<std::int64_t>{1, 2});
  user.run({"cancel", "all"});
}

TEST_CASE("explain tells once what many waiting runs wait for, a held task of an array by its own id, and the time limit that "
          "would fit "
          "before a reservation",
          "[commands]")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster), reserved(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.sweep(seeds(30));
  const auto text = user.run({"explain", "last"}).out;
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') < 20);
  CHECK_THAT(text, Catch::Contains("30 of 30 runs") && Catch::Contains("and 24 more"));
  CHECK(user.json({"explain", "last"}).at("runs").size() == 30);
  const auto task = *slurm_jobs(user).begin() + "_5";
  cluster.slurm({"scontrol", "uhold", task});
  REQUIRE(eventually([&] { return cluster.slurm({"squeue", "-h", "-j", task, "-o", "%r"}).find("Held") != std::string::npos; }));
  CHECK_THAT(explanation_of(user, task).at("advice").get<std::string>(), Catch::Contains("scontrol release " + task));
  user.run({"cancel", "all"});
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});

  const auto self = std::string(trim(run_command({"id", "-un"}).out));
  cluster.slurm({"scontrol", "create", "reservation", "reservationname=maint", "starttime=now+30minutes", "duration=60",
                 "nodes=ALL", "flags=maint", "users=" + self});
  reserved.sweep(cluster_recipe(a_moment, "resources: {time_limit: 1h}\n"));
  const auto why = [&] { return explanation_of(reserved, "last").at("why").get<std::string>(); };
  CHECK(eventually([&] { return why().find("the reservation maint begins at ") != std::string::npos; }));
  INFO(why());
  CHECK_THAT(why(), Catch::Contains("(ReqNodeNotAvail)"));
  const auto advised = why().substr(why().find("timelimit=") + 10);
  cluster.slurm(
      {"scontrol", "update", "jobid=" + *slurm_jobs(reserved).begin(), "timelimit=" + advised.substr(0, advised.find(')'))});
  CHECK(reserved.wait() == 0);
}
