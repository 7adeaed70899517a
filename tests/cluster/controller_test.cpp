// A controller that is restarted, stopped, killed or held still, and a dtctl that is killed.
#include "tests/cluster/playground.hpp"
#include "tests/support/traced_program.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <map>

#include <catch2/catch.hpp>

#include <sys/wait.h>

using namespace dt;
using namespace dt::test;

namespace {

const std::string four_runs = "sweep: {matrix: {train.seed: [1, 2, 3, 4]}}\n";

// Every task that Slurm was given for these runs, by name and comment; none of them twice.
void check_submitted_once(const Cluster& cluster, const ClusterUser& user)
{
  std::set<std::string> own;
  for (const auto& run : user.run_folders()) {
    const auto submission = read_submission(newest_attempt(run));
    REQUIRE(submission);
    own.insert("dtctl:" + submission->token.substr(0, submission->token.find('.')));
  }
  std::size_t tasks = 0;
  for (const auto& line : split(cluster.slurm({"squeue", "-h", "-r", "-t", "all", "-o", "%k"}), '\n'))
    tasks += own.count(line.substr(0, line.find(' ')));
  CHECK(tasks == user.run_folders().size());
}

} // namespace

TEST_CASE("a controller restarted under running jobs: meanwhile they are told from their files with exit code 3, and end well")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(6'000));
  REQUIRE(user.train(1));
  cluster.hurt({"stop-controller"});
  const auto blind = user.run({"status", "all"});
  INFO(blind.out << blind.err);
  CHECK(blind.exit_code == 3);
  CHECK(blind.err.find("does not answer") != std::string::npos);
  CHECK(blind.out.find("cluster") != std::string::npos);
  cluster.hurt({"start-controller"});
  CHECK(user.wait() == 0);
  CHECK(user.states() == Json{{"succeeded", 1}});
  check_nothing_ran_twice(user);
}

TEST_CASE("a controller that is down takes no submission, says so with exit code 3, and nothing is lost or left behind",
          "[commands]")
{
  const Cluster cluster({"--nodes", "2"});
  const ClusterUser user(cluster);
  cluster.hurt({"stop-controller"});
  const auto refused = user.try_sweep(cluster_recipe(a_moment, four_runs));
  INFO(refused.out << refused.err);
  CHECK(refused.exit_code == 3);
  cluster.hurt({"start-controller"});
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}).at("exit_code") == 0);
  CHECK(user.states() == Json{{"succeeded", 4}});
  check_submitted_once(cluster, user);
}

TEST_CASE("a controller held still during a submission: the answer never came, the jobs are found later, and nothing runs twice",
          "[commands]")
{
  const Cluster cluster({"--nodes", "2", "--set", "MessageTimeout=4"});
  const ClusterUser user(cluster);
  user.dtctl().write("recipe.yaml", cluster_recipe(a_moment, four_runs));
  cluster.hurt({"stop-controller", "--pause"});
  const pid_t sweep = user.start({"sweep", "recipe.yaml", "--profile", "cluster"});
  ::waitpid(sweep, nullptr, 0); // it gives up by itself, and its request still lies with the controller
  cluster.hurt({"resume-controller"});
  CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}).at("exit_code") == 0);
  CHECK(user.states() == Json{{"succeeded", 4}});
  check_submitted_once(cluster, user);
  check_nothing_ran_twice(user);
}

TEST_CASE("dtctl killed between intent and answer: the next sweep finds what is in the queue, and nothing runs twice")
{
  const Cluster cluster({"--nodes", "2"});
  const auto sweep_until = [&](const ClusterUser& user, int call) {
    user.dtctl().write("recipe.yaml", cluster_recipe(5, four_runs));
    return TracedProgram(user.dtctl().command({"sweep", "recipe.yaml", "--profile", "cluster"}, cluster.environment())).run(call);
  };
  const int calls = sweep_until(ClusterUser(cluster), 0).changes;
  for (int moment = 1; moment <= 6; ++moment) {
    const int call = 1 + (calls - 1) * moment / 7;
    INFO("killed before call " << call << " of the " << calls << " that change files");
    const ClusterUser user(cluster);
    CHECK(sweep_until(user, call).killed);
    CHECK(user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}).at("exit_code") == 0);
    CHECK(user.states() == Json{{"succeeded", 4}});
    check_submitted_once(cluster, user);
    check_nothing_ran_twice(user);
  }
}

TEST_CASE("who waits for runs is patient with a controller that is down: one warning, and exit code 3 after --patience")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  user.sweep(cluster_recipe(for_ever));
  REQUIRE(user.train(1));
  cluster.hurt({"stop-controller"});
  const auto waited = user.run({"status", "--follow", "last", "--patience", "3s"});
  INFO(waited.err);
  CHECK(waited.exit_code == 3);
  const auto warning = waited.err.find("warning:");
  REQUIRE(warning != std::string::npos);
  CHECK_THAT(waited.err, Catch::Contains("3s (--patience)"));
  CHECK(waited.err.find("warning:", warning + 1) == std::string::npos);
  CHECK(user.run({"status", "--follow", "last", "--patience", "soon"}).exit_code == 2);
  cluster.hurt({"start-controller"});
  user.run({"cancel", "all"});
}
