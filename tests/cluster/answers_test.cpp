// Tests on a real Slurm: `results` and `compare` pair the runs of a ladder by repeat, and `sweep --until-decided` repeats runs
// until the study's verdict is clear.
#include "store/analysis/statistics/comparison.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "tests/cluster/playground.hpp"

#include "core/text.hpp"

#include <fmt/format.h>

#include <csignal>

#include <sys/wait.h>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

const std::string slow = "modelled_rate=100", fast = "modelled_rate=800";
// Labels whose throughputs differ by several times, also beside other programs, because the computation is modelled.
constexpr const char* two_speeds = "train.modelled_rate: [100, 800]";

constexpr std::int64_t few_steps = 20;

// A ladder of programs that print their throughput, so that no busy machine makes one of three runs an outlier: both sizes lose 5
// % from repeat to repeat, and two nodes another 1 %.
constexpr const char* given_ladder = R"yaml(version: 1
name: ladder
program:
  command:
    - python3
    - -c
    - "import os; r = int(os.environ['DTCTL_REPEAT']); w = int(os.environ['WORLD_SIZE']); print('throughput', 1000 * w * 0.95 ** r * (1 - 0.01 * r * (w - 1)))"
  metrics: {throughput: 'throughput ([0-9.]+)'}
study: {mode: weak, nodes: [1, 2], repeats: 3, layout: ladder}
)yaml";

// Returns the throughputs of the study's runs on `nodes` nodes, ordered by repeat. Control runs are left out.
std::vector<double> throughputs(const ClusterUser& user, int nodes)
{
  const auto rows = user.json(
      {"query", "SELECT throughput FROM runs_flat WHERE NOT control AND nodes = " + std::to_string(nodes) + " ORDER BY repeat"});
  std::vector<double> values;
  for (const auto& row : rows.at("rows")) values.push_back(row.at("throughput"));
  return values;
}

void check_interval(const Json& row, const std::string& of, const store::Interval& interval)
{
  CHECK(row.at(of + "low").get<double>() == Approx(interval.low).epsilon(1e-6));
  CHECK(row.at(of + "high").get<double>() == Approx(interval.high).epsilon(1e-6));
}

std::string race_recipe(const std::string& until, const std::string& swept)
{
  return cluster_recipe(few_steps, "study: {repeats: 3, until: {" + until + "}}\nsweep: {matrix: {" + swept + "}}\n");
}

const Words until_decided{"--until-decided"};

const Json& standing_of(const Json& outcome, const std::string& label)
{
  for (const auto& row : outcome.at("race"))
    if (row.at("label") == label) return row;
  throw std::runtime_error("no point " + label);
}

// Jobs that Slurm has ever been given; the tasks of an array count each.
std::size_t jobs_in_slurm(const Cluster& cluster)
{
  return split(cluster.slurm({"squeue", "-h", "-r", "-t", "all"}), '\n').size();
}

} // namespace

TEST_CASE("sizes of a ladder are compared in pairs within the repeats of its job, and results and compare say so")
{
  const Cluster cluster({"--nodes", "2"});
  const ClusterUser user(cluster);
  user.sweep(given_ladder);
  CHECK(slurm_jobs(user).size() == 1);
  CHECK(user.wait() == 0);
  const auto one = throughputs(user, 1), two = throughputs(user, 2);
  REQUIRE((one.size() == 3 && two.size() == 3));
  const auto ratio = store::compare_paired(two, one, {}).interval;
  const auto unpaired = store::efficiency_interval(store::log_moments(two), 2, store::log_moments(one), 1);

  const auto results = user.json({"results", "last"});
  INFO(results.dump(1));
  CHECK(results.at("scaling").at(0).at("paired_blocks") == 0); // the baseline
  const auto& larger = results.at("scaling").at(1);
  CHECK(larger.at("paired_blocks") == 3);
  check_interval(larger, "efficiency_", {ratio.low / 2, ratio.high / 2});
  CHECK(larger.at("efficiency_low").get<double>() != Approx(unpaired.low).epsilon(1e-6));
  CHECK_THAT(user.run({"results", "last"}).err, Catch::Contains("compare the sizes within the rounds"));

  const auto compared = user.json({"compare", "last", "--where-a", "nodes=2", "--where-b", "nodes=1"});
  INFO(compared.dump(1));
  REQUIRE(compared.at("comparisons").size() == 1);
  CHECK(compared.at("comparisons").at(0).at("method") == "paired-ratio");
  check_interval(compared.at("comparisons").at(0), "", ratio);
}

// A machine that stands still for a second within one run makes that run several times slower, so the first look need not decide;
// tests/store/analysis/statistics/race_test.cpp has the look at which given figures decide.
TEST_CASE("a race on Slurm with a clear winner ends early, and a second call submits nothing and says the same")
{
  const Cluster cluster({"--nodes", "2"});
  const ClusterUser user(cluster);
  const auto recipe = race_recipe("interval: 5%, max_repeats: 12", two_speeds);
  const auto outcome = user.sweep(recipe, until_decided);
  INFO(outcome.dump(1));
  const auto& lost = standing_of(outcome, slow);
  const auto repeats = lost.at("repeats").get<std::size_t>();
  CHECK(repeats >= 3);
  CHECK(repeats < 12);
  CHECK(standing_of(outcome, fast).at("reason") == fmt::format("the best of 2 at {} repeats", repeats));
  CHECK_THAT(lost.at("reason").get<std::string>(), Catch::StartsWith("worse than"));
  CHECK(jobs_in_slurm(cluster) == 2 * repeats);
  const auto submissions = slurm_jobs(user).size();
  const auto again = user.sweep(recipe, until_decided);
  for (const auto* member : {"study", "race", "verdict"}) CHECK(again.at(member) == outcome.at(member));
  CHECK(jobs_in_slurm(cluster) == 2 * repeats);
  CHECK(slurm_jobs(user).size() == submissions);
  CHECK(user.run_folders().size() == 2 * repeats);
  check_nothing_ran_twice(user);
}

TEST_CASE("points of a race on Slurm that have lost get no more runs, while equals go on to the most repeats")
{
  const Cluster cluster({"--nodes", "1"});
  const ClusterUser user(cluster);
  const auto outcome =
      user.sweep(race_recipe("interval: 0.01%, max_repeats: 7", std::string(two_speeds) + ", train.seed: [1, 2]"), until_decided);
  INFO(outcome.dump(1));
  std::size_t runs = 0;
  for (const std::string seed : {" seed=1", " seed=2"}) {
    const auto& lost = standing_of(outcome, slow + seed);
    CHECK(lost.at("repeats") < 7);
    CHECK_THAT(lost.at("reason").get<std::string>(), Catch::StartsWith("worse than"));
    const auto& open = standing_of(outcome, fast + seed);
    CHECK(open.at("repeats") == 7);
    CHECK_THAT(open.at("reason").get<std::string>(), Catch::StartsWith("not decided"));
    runs += lost.at("repeats").get<std::size_t>() + 7;
  }
  CHECK(jobs_in_slurm(cluster) == runs);
  CHECK(user.states() == Json{{"succeeded", runs}});
  CHECK(user.json({"status", "--all"}).at("studies").size() == 1);
}

TEST_CASE("a race whose call was killed while its jobs wait in Slurm is continued by the same call, without a job more")
{
  const Cluster cluster({"--nodes", "2"});
  const ClusterUser user(cluster);
  cluster.slurm({"scontrol", "update", "partition=main", "state=down"});
  user.dtctl().write("recipe.yaml", race_recipe("interval: 5%, max_repeats: 12", two_speeds));
  const auto killed = user.start({"sweep", "recipe.yaml", "--profile", "cluster", "--until-decided"});
  REQUIRE(user.reach("queued", 6));
  ::kill(killed, SIGKILL);
  ::waitpid(killed, nullptr, 0);
  cluster.slurm({"scontrol", "update", "partition=main", "state=up"});
  const auto outcome = user.json({"sweep", "recipe.yaml", "--profile", "cluster", "--until-decided"});
  INFO(outcome.dump(1));
  CHECK(outcome.at("exit_code") == 0);
  const auto repeats = standing_of(outcome, slow).at("repeats").get<std::size_t>();
  CHECK(standing_of(outcome, fast).at("reason") == fmt::format("the best of 2 at {} repeats", repeats));
  CHECK(user.states() == Json{{"succeeded", 2 * repeats}});
  CHECK(jobs_in_slurm(cluster) == 2 * repeats);
  check_nothing_ran_twice(user);
}
