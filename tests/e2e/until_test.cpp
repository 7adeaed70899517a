// dtctl sweep --until-decided: repeats where the decision is open, no more runs for what has lost, and the same outcome when
// called again.
#include "core/file.hpp"
#include "core/record/attempt_files.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <set>

#include <fmt/format.h>

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;

namespace {

// Two labels whose throughputs differ by several times, also beside other programs, because the computation is modelled.
constexpr const char* two_speeds = "train.modelled_rate: [12, 100]";
// The same work under two labels.
constexpr const char* two_seeds = "train.seed: [1, 2]";

std::string recipe(const std::string& until, const std::string& swept = two_speeds)
{
  return "version: 1\nname: race\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 1024, test_samples: 32}\n"
         "train: {global_batch: 4, steps: 12, warmup_steps: 2, eval_every_epochs: 0}\n"
         "study: {repeats: 3, until: {" +
         until + "}}\nsweep: {matrix: {" + swept + "}}\n";
}

// Two programs whose figures are given: 1000 and 1001 samples/s, nearly the same in all repeats.
constexpr const char* given_figures = "version: 1\nname: race\nprogram:\n  command: [sh, figures.sh]\n  files: [figures.sh]\n"
                                      "  parameters: {arm: 1}\n  metrics: {throughput: 'throughput ([0-9.]+)'}\n"
                                      "study: {repeats: 3, until: {interval: 3%, max_repeats: 12}}\n"
                                      "sweep: {matrix: {program.parameters.arm: [1, 2]}}\n";
constexpr const char* figures_program = "echo throughput $((999 + DTCTL_PROGRAM_PARAMETERS_ARM)).$((DTCTL_REPEAT * 3 % 7))\n";

const Json& standing_of(const Json& outcome, const std::string& label)
{
  for (const auto& row : outcome.at("race"))
    if (row.at("label") == label) return row;
  throw std::runtime_error("no point " + label);
}

std::size_t run_count(const Dtctl& dtctl)
{
  const auto runs = dtctl.home() / "runs";
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(runs), {}));
}

} // namespace

// A machine that stands still for a second within one run makes that run several times slower, so the first look need not decide;
// tests/store/analysis/statistics/race_test.cpp has the look at which given figures decide.
TEST_CASE("a race with a clear winner ends early, and a second call submits nothing and says the same")
{
  const Dtctl dtctl;
  dtctl.write("race.yaml", recipe("interval: 5%, max_repeats: 12"));
  const auto outcome = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(outcome.dump(1));
  const auto& lost = standing_of(outcome, "modelled_rate=12");
  const auto repeats = lost.at("repeats").get<std::size_t>();
  CHECK(repeats >= 3);
  CHECK(repeats < 12);
  CHECK(standing_of(outcome, "modelled_rate=100").at("reason") == fmt::format("the best of 2 at {} repeats", repeats));
  CHECK(dt::printable(lost.at("reason").get<std::string>())
            .starts_with(fmt::format("worse than modelled_rate 100 at {} repeats: 0.", repeats)));
  CHECK(outcome.at("verdict").is_object());
  CHECK(run_count(dtctl) == 2 * repeats);
  const auto again = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  CHECK(again.at("race") == outcome.at("race"));
  CHECK(again.at("study") == outcome.at("study"));
  CHECK(run_count(dtctl) == 2 * repeats);
}

// Makes of a run that succeeded one that was cancelled.
void cancel_afterwards(const std::filesystem::path& run_folder)
{
  const dt::AttemptFolder attempt(run_folder, 1);
  std::filesystem::remove(attempt.result());
  dt::write_file_atomic(attempt.cancel(), "1 alice\n");
}

TEST_CASE("runs of a race that were cancelled or failed are missing: the same command runs them and no others, and then decides")
{
  const Dtctl dtctl;
  dtctl.write("race.yaml", recipe("interval: 0.01%, max_repeats: 5", two_seeds));
  const auto first = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(first.dump(1));
  REQUIRE(run_count(dtctl) == 10);
  std::set<std::string> gone;
  const bool all = GENERATE(false, true);
  const auto status = dtctl.json({"status"});
  for (const auto& run : status.at("runs")) {
    const auto name = run.at("name").get<std::string>();
    if (!all && name.find("/#1") == std::string::npos && name.find("/#4") == std::string::npos) continue;
    const auto key = run.at("key").get<std::string>();
    gone.insert(key);
    cancel_afterwards(dtctl.home() / "runs" / key);
  }
  REQUIRE(gone.size() == (all ? 10U : 4U));
  REQUIRE(dtctl.run({"db", "rebuild"}).ok());
  const auto again = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(again.dump(1));
  CHECK(again.at("states") == Json{{"succeeded", 10}});
  CHECK(standing_of(again, "seed=1").at("repeats") == 5);
  CHECK(run_count(dtctl) == 10);
  for (const auto& entry : std::filesystem::directory_iterator(dtctl.home() / "runs"))
    CHECK(dt::attempt_numbers(entry.path()).size() == (gone.contains(entry.path().filename().string()) ? 2U : 1U));
}

TEST_CASE("a race whose runs all fail ends after one try of each, and held-back runs stop a race")
{
  const Dtctl dtctl;
  dtctl.write("race.yaml", recipe("interval: 5%, max_repeats: 5") + "resources: {setup: ['exit 3']}\n");
  const auto kept = dtctl.json({"sweep", "race.yaml", "--until-decided", "--keep-going"});
  CHECK(standing_of(kept, "modelled_rate=12").at("reason") == "none of its 3 runs has a value");
  CHECK(run_count(dtctl) == 6);
  const auto held = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(held.dump(1));
  CHECK_THAT(standing_of(held, "modelled_rate=12").at("reason").get<std::string>(),
             Catch::Contains("cancelled; call the same command again to go on"));
}

TEST_CASE("a margin that no number of runs can resolve ends the race at the most repeats")
{
  const Dtctl dtctl;
  dtctl.write("race.yaml", recipe("interval: 0.01%, max_repeats: 4", two_seeds));
  const auto outcome = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(outcome.dump(1));
  CHECK(standing_of(outcome, "seed=1").at("reason") == "not decided after 4 repeats, the most that are allowed");
  CHECK(standing_of(outcome, "seed=1").at("repeats") == 4);
  CHECK(run_count(dtctl) == 8);
}

TEST_CASE("a race stops before a round that its budget does not allow, and names the budget")
{
  const Dtctl dtctl;
  dtctl.write("race.yaml", recipe("interval: 0.01%, max_repeats: 12, budget: 0.000001 node-hours", two_seeds));
  const auto outcome = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(outcome.dump(1));
  CHECK(standing_of(outcome, "seed=1").at("reason").get<std::string>().find("1e-06 node-hours are spent") != std::string::npos);
  CHECK(run_count(dtctl) == 6); // the first round is always allowed
}

TEST_CASE("each size of a scaling study is a point of its own, and labels race at each size")
{
  const Dtctl dtctl;
  dtctl.write("figures.sh", "[ \"$RANK\" = 0 ] || exit 0\n"
                            "echo throughput $((100 * DTCTL_PROGRAM_PARAMETERS_ARM * WORLD_SIZE + DTCTL_REPEAT * 3 % 7))\n");
  std::string text = given_figures;
  text.replace(text.find("study: {"), 8, "resources: {oversubscribe: true}\nstudy: {mode: weak, ranks: [1, 2], ");
  text.replace(text.find("[1, 2]}}", text.find("sweep:")), 8, "[1, 8]}}");
  dtctl.write("race.yaml", text);
  const auto race = dtctl.json({"sweep", "race.yaml", "--until-decided"}).at("race");
  INFO(race.dump(1));
  REQUIRE(race.size() == 4);
  std::size_t repeats = 0;
  for (const auto& point : race) {
    CHECK(point.at("repeats").get<std::size_t>() < 12);
    repeats += point.at("repeats").get<std::size_t>();
    const bool is_fast = point.at("label") == "arm=8";
    CHECK(point.at("reason").get<std::string>().starts_with(is_fast ? "the best of 2" : "worse than arm 8"));
  }
  CHECK(run_count(dtctl) == repeats);
}

TEST_CASE("the verdict of a race is that of its rule, in results and in the report as in the sweep")
{
  const Dtctl dtctl;
  dtctl.write("figures.sh", figures_program);
  dtctl.write("race.yaml", given_figures);
  const auto outcome = dtctl.json({"sweep", "race.yaml", "--until-decided"});
  INFO(outcome.dump(1));
  // A ranking of the same runs would say that the second is the best, by 0.1 %.
  const auto expected = "arm 1, arm 2 are the best of 2 by throughput and equivalent within 3 % after 3 repeats";
  // On a busy machine the sentence goes on and says so.
  CHECK_THAT(outcome.at("verdict").at("sentences").at(0).get<std::string>(), Catch::StartsWith(expected));
  CHECK(dtctl.json({"results", "race"}).at("verdict") == outcome.at("verdict"));
  REQUIRE(dtctl.run({"report", "race", "-o", "report.html"}).ok());
  CHECK_THAT(dt::read_file(dtctl.folder() / "report.html"), Catch::Contains(expected));
}

TEST_CASE("a single run, a ladder, a race to no target or of one seed and rounds in order are refused, and a dry run shows the "
          "first round")
{
  const Dtctl dtctl;
  dtctl.write("one.yaml", dt::test::tiny_recipe());
  const auto single = dtctl.run({"sweep", "one.yaml", "--until-decided"});
  CHECK(single.exit_code == 2);
  CHECK(single.err.find("has a single point, so there is nothing to decide") != std::string::npos);
  dtctl.write("race.yaml", recipe("interval: 5%"));
  const auto ladder = dtctl.run({"sweep", "race.yaml", "--until-decided", "--set", "study.layout=ladder", "--set",
                                 "resources.scheduler=slurm", "--set", "study.mode=strong", "--set", "study.ranks=[1,2]"});
  CHECK(ladder.exit_code == 2);
  CHECK(ladder.err.find("asks for a ladder, whose runs share one allocation") != std::string::npos);
  CHECK(dtctl.json({"sweep", "race.yaml", "--until-decided", "--dry-run"}).at("runs").size() == 6);
  const auto no_target = dtctl.run({"sweep", "race.yaml", "--until-decided", "--set", "study.until.metric=time-to-target"});
  CHECK(no_target.exit_code == 2);
  CHECK(no_target.err.find("study.until.metric is time-to-target, but modelled_rate=12 has no target") != std::string::npos);
  const auto one_seed = dtctl.run({"sweep", "race.yaml", "--until-decided", "--set", "study.until.metric=time-to-target", "--set",
                                   "train.target_accuracy=0.5", "--set", "study.vary_seed=false"});
  CHECK(one_seed.exit_code == 2);
  CHECK(one_seed.err.find("trains all repeats of a point with one seed") != std::string::npos);
  const auto in_order = dtctl.run({"sweep", "race.yaml", "--until-decided", "--set", "study.order=listed"});
  CHECK(in_order.exit_code == 2);
  CHECK(in_order.err.find("--until-decided needs study.order: random") != std::string::npos);
  const auto wrong = dtctl.run({"validate", "race.yaml", "--set", "study.until.interval=5 apples"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("`study.until.interval` must be a number") != std::string::npos);
}
