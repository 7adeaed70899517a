// Jobs whose comment or time limit somebody has changed, files that reach a node late, runs that were submitted to another
// cluster, and wishes that Slurm did not hear.
#include "tests/cluster/playground.hpp"

#include "core/files/file.hpp"
#include "core/record/attempt/batch_token.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

using namespace dt;
using namespace dt::test;

namespace {

// A program that reports steps until it is stopped; with `args` for sbatch.
std::string endless(const std::string& args = "", int repeats = 1)
{
  return fmt::format(R"yaml(version: 1
name: endless
program:
  command: [python3, -c, "import time, dtctl_report as report\nreport.begin()\nwhile True:\n  time.sleep(0.1)\n  report.step(samples=8)"]
train: {{warmup_steps: 2}}
study: {{mode: strong, ranks: [1], repeats: {}}}
resources: {{launcher: dtjob, requeue: 2, scheduler_args: [{}]}}
)yaml",
                     repeats, args);
}

std::string id_of(const ClusterUser& user) { return read_submission(newest_attempt(user.run_folders().at(0)))->job_id; }

std::string state_in_slurm(const Cluster& cluster, const std::string& id)
{
  return cluster.slurm({"squeue", "-h", "-t", "all", "-j", id, "-o", "%T"});
}

// What a user has who goes over to another cluster with the same settings of dtctl, or else it would be another run.
Words environment_at(const Cluster& there, const Cluster& settings)
{
  return {"SLURM_CONF=" + there.configuration().string(), "XDG_CONFIG_HOME=" + (settings.folder() / "config").string()};
}

bool has_left_queue(const Cluster& cluster)
{
  return eventually([&] { return cluster.slurm({"squeue", "-h"}).empty(); }, 30);
}

// A run whose job waits in Slurm until it is released.
struct HeldRun {
  explicit HeldRun(const Cluster& cluster) : user(cluster) {}
  ClusterUser user;
  std::string id = (user.sweep(endless("--hold")), id_of(user));
};

} // namespace

TEST_CASE("a job whose comment somebody has replaced is known by its id, also when it starts again, and where nothing else "
          "identifies it "
          "it is unknown, and cancel does not say it were cancelled",
          "[commands]")
{
  const Cluster cluster({"--nodes", "1"});
  const auto update = [&](const HeldRun& run, const std::string& what) {
    cluster.slurm({"scontrol", "update", "jobid=" + run.id, what});
  };
  const auto check_cancels = [&](const HeldRun& run) {
    CHECK(run.user.json({"cancel", "all"}).at("cancelled") == 1);
    CHECK(has_left_queue(cluster));
    CHECK(run.user.reach("cancelled", 1));
  };
  const HeldRun renamed(cluster);
  update(renamed, "comment=note of the admin");
  CHECK(renamed.user.states() == Json{{"queued", 1}});
  update(renamed, "jobname=renamed");
  CHECK(renamed.user.states() == Json{{"queued", 1}});
  cluster.slurm({"scontrol", "release", renamed.id});
  CHECK(renamed.user.reach("running", 1));
  update(renamed, "comment=");
  check_cancels(renamed);

  const HeldRun requeued(cluster);
  update(requeued, "comment=x");
  cluster.slurm({"scontrol", "release", requeued.id});
  REQUIRE(requeued.user.reach("running", 1));
  cluster.slurm({"scontrol", "requeuehold", requeued.id});
  CHECK(requeued.user.reach("queued", 1));
  check_cancels(requeued);

  const HeldRun nameless(cluster);
  const auto token = read_submission(newest_attempt(nameless.user.run_folders().at(0)))->token;
  std::filesystem::remove(nameless.user.dtctl().home() / "slurm" / parse_token(token)->batch /
                          "jobs"); // as an earlier dtctl left it
  update(nameless, "comment=x");
  const auto run = nameless.user.runs().at(0);
  CHECK(run.at("state") == "unknown");
  CHECK_THAT(run.at("cause").get<std::string>(), Catch::StartsWith("job " + nameless.id));
  const auto cancelled = nameless.user.run({"cancel", "all"});
  CHECK(cancelled.exit_code == 3);
  CHECK_THAT(cancelled.err, Catch::Contains("scancel " + nameless.id));
  CHECK(state_in_slurm(cluster, nameless.id) == "PENDING");
  CHECK(nameless.user.states() == Json{{"unknown", 1}});
}

TEST_CASE("a job waits for files that reach its node late, and the cause of a run whose files never come is what its job wrote",
          "[commands]")
{
  const Cluster cluster({"--nodes", "1"});
  const HeldRun late(cluster), never(cluster);
  const auto batch_of = [](const HeldRun& run) {
    const auto token = read_submission(newest_attempt(run.user.run_folders().at(0)))->token;
    return run.user.dtctl().home() / "slurm" / parse_token(token)->batch;
  };
  for (const auto* run : {&late, &never}) {
    std::filesystem::rename(batch_of(*run) / "tasks", batch_of(*run) / "aside");
    cluster.slurm({"scontrol", "release", run->id});
  }
  REQUIRE(eventually([&] {
    return read_file_if_exists(batch_of(late) / "log").value_or("").find("is not there yet: waits for it") != std::string::npos;
  }));
  std::filesystem::rename(batch_of(late) / "aside", batch_of(late) / "tasks");
  CHECK(late.user.reach("running", 1));
  CHECK(eventually([&] { return read_begin(newest_attempt(late.user.run_folders().at(0))).has_value(); }));
  CHECK(late.user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(late.user.reach("cancelled", 1));

  CHECK(never.user.reach("failed", 1, 120));
  const auto missing = (batch_of(never) / "tasks").string() + ": No such file or directory";
  CHECK_THAT(never.user.runs().at(0).at("cause").get<std::string>(), Catch::Contains("exit code 74") && Catch::Contains(missing));
  const auto logs = never.user.run({"logs", "all"});
  CHECK_THAT(logs.err, Catch::Contains((batch_of(never) / "log").string()));
  CHECK_THAT(logs.out, Catch::Contains(missing));
}

TEST_CASE("a site whose plug-in replaces every comment is told at the submission, and its jobs are followed and cancelled",
          "[commands]")
{
  const Cluster cluster({"--nodes", "1", "--set", "JobSubmitPlugins=lua", "--lua",
                         "if job_desc.comment ~= nil then job_desc.comment = 'acct=phys' end"});
  const ClusterUser user(cluster);
  user.dtctl().write("recipe.yaml", endless());
  const auto submitted = user.run({"sweep", "recipe.yaml", "--profile", "cluster"});
  CHECK_THAT(submitted.err, Catch::Contains("changes the comment"));
  CHECK(user.reach("running", 1));
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(has_left_queue(cluster));
  CHECK(user.reach("cancelled", 1));
  const auto findings = user.json({"doctor"}).at("findings");
  INFO(findings.dump(1));
  const bool has_told = std::any_of(findings.begin(), findings.end(), [](const Json& finding) {
    return finding.at("check") == "slurm identity" && finding.at("level") == "warn";
  });
  CHECK(has_told);
}

TEST_CASE("runs of another cluster are unknown: nothing is cancelled, submitted or recorded there", "[commands]")
{
  const Cluster here({"--nodes", "1", "--accounting"}), there({"--nodes", "1", "--set", "ClusterName=other"});
  const ClusterUser user(here);
  const auto at_other = [&](const Words& words) { return user.dtctl().run(words, environment_at(there, here)); };
  const auto json_at_other = [&](const Words& words) { return user.dtctl().json(words, environment_at(there, here)); };
  user.sweep(endless("--hold"));
  const auto attempt = newest_attempt(user.run_folders().at(0));
  CHECK(read_submission(attempt)->cluster == "dtctl");
  const auto run = json_at_other({"status", "all"}).at("runs").at(0);
  CHECK(run.at("state") == "unknown");
  CHECK(at_other({"cancel", "all"}).exit_code == 3);
  CHECK_FALSE(std::filesystem::exists(attempt.cancel()));
  at_other({"retry", "all"});
  at_other({"sweep", "recipe.yaml", "--profile", "cluster"});
  CHECK(there.slurm({"squeue", "-h", "-t", "all"}).empty());
  CHECK(user.states() == Json{{"queued", 1}});
  CHECK(user.json({"cancel", "all"}).at("cancelled") == 1);
  CHECK(user.states() == Json{{"cancelled", 1}});
}

TEST_CASE("a run that waits for room on one cluster is not submitted to another", "[commands]")
{
  const Cluster here({"--nodes", "1", "--set", "MaxJobCount=2"}), there({"--nodes", "1", "--set", "ClusterName=other"});
  const ClusterUser user(here);
  user.sweep(endless("--hold", 2), {}, 4);
  const auto runs = user.dtctl().json({"status", "all"}, environment_at(there, here));
  INFO(runs.dump(1));
  CHECK(runs.at("states") == Json{{"unknown", 2}});
  CHECK(there.slurm({"squeue", "-h", "-t", "all"}).empty());
  CHECK(user.states() == Json{{"queued", 1}, {"planned", 1}});
  user.run({"cancel", "all"});
}

TEST_CASE("a cancellation that no controller heard ends the program all the same, and is sent again by the next look",
          "[commands]")
{
  const Cluster cluster({"--nodes", "1", "--cpus", "1"});
  const ClusterUser user(cluster);
  user.sweep(endless("", 2));
  std::optional<AttemptFolder> running; // Slurm says so some time before the program has begun
  REQUIRE(eventually([&] {
    for (const auto& run : user.run_folders())
      if (const auto attempt = newest_attempt(run); read_begin(attempt)) running = attempt;
    return running.has_value();
  }));
  cluster.hurt({"stop-controller"});
  const auto cancelled = user.run({"cancel", "all"});
  CHECK(cancelled.exit_code == 3);
  CHECK(eventually([&] { return read_end(*running).has_value(); }, 60)); // by its own dtjob
  cluster.hurt({"start-controller"});
  CHECK(user.reach("cancelled", 2));
  CHECK(has_left_queue(cluster));
  std::size_t accepted = 0;
  for (const auto& run : user.run_folders()) {
    const auto asked = read_file_if_exists(newest_attempt(run).asked()).value_or("");
    CHECK(asked.find(" cancel Slurm's controller at ") != std::string::npos);
    if (asked.ends_with(" cancel accepted\n")) ++accepted;
  }
  CHECK(accepted >= 1); // of the one that waited
}

TEST_CASE("a time limit that was changed in Slurm ends a run, and is said so", "[commands]")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  auto recipe = endless();
  recipe.replace(recipe.find("requeue: 2"), 10, "requeue: 0, time_limit: 20m, signal_ahead: 110s");
  recipe.insert(recipe.find("import time"), "import signal, sys\\nsignal.signal(signal.SIGUSR1, lambda *_: sys.exit(0))\\n");
  user.sweep(recipe);
  const auto attempt = newest_attempt(user.run_folders().at(0));
  REQUIRE(eventually([&] { return read_heartbeat(attempt).has_value(); }));
  cluster.slurm({"scontrol", "update", "jobid=" + id_of(user), "timelimit=2"});
  REQUIRE(eventually([&] { return read_end(attempt).has_value(); }));
  REQUIRE(eventually([&] { return user.runs().at(0).at("state") != "running"; }));
  const auto run = user.runs().at(0);
  INFO(run.dump(1));
  CHECK_THAT(run.at("cause").get<std::string>(), Catch::Contains("time limit (2m, changed"));
}
