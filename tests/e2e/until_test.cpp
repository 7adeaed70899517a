// dtctl sweep --until-decided: repeats where the decision is open, no more runs for what has lost, and the same outcome when
// called again.
#include "core/files/file.hpp"
#include "core/record/attempt_files.hpp"
#include "tests/cli/driver.hpp"

#include <set>

#include <catch2/catch.hpp>

using Catch::Contains;
using Catch::StartsWith;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::with;

namespace {

// A race of programs that print their figures, so that no busy machine changes them: 10 * speed samples/s a rank, with noise of
// 0.03 % that depends on repeat and arm.
constexpr const char* figures = "[ \"$RANK\" = 0 ] || exit 0\n"
                                "noise=$(((DTCTL_REPEAT * 3 + DTCTL_PROGRAM_PARAMETERS_ARM * 5) % 7))\n"
                                "echo throughput $((10 * DTCTL_PROGRAM_PARAMETERS_SPEED * WORLD_SIZE + noise))\n";
constexpr const char* two_speeds = "speed: [1000, 8000]";
constexpr const char* nearly_equal = "speed: [1000, 1001]";
constexpr const char* equal = "arm: [1, 2]";

struct Race : Dtctl {
  Race(const std::string& until, const std::string& swept, const std::string& study = "", const std::string& more = "")
  {
    write("figures.sh", figures);
    write("race.yaml", "version: 1\nname: race\nprogram:\n  command: [sh, figures.sh]\n  files: [figures.sh]\n"
                       "  parameters: {arm: 1, speed: 1000}\n  metrics: {throughput: 'throughput ([0-9.]+)'}\n"
                       "study: {repeats: 3, " +
                           study + "until: {" + until + "}}\nsweep: {matrix: {program.parameters." + swept + "}}\n" + more);
  }
  Json decide(const dt::test::Words& more = {}) const
  {
    return json(dt::test::with({"sweep", "race.yaml", "--until-decided"}, more));
  }
};

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

TEST_CASE("a race with a clear winner ends early, and a second call submits nothing and says the same")
{
  const Race race("interval: 5%, max_repeats: 12", two_speeds);
  const auto outcome = race.decide();
  INFO(outcome.dump(1));
  const auto& lost = standing_of(outcome, "speed=1000");
  CHECK(lost.at("repeats") == 3);
  CHECK_THAT(lost.at("reason").get<std::string>(), StartsWith("worse than"));
  CHECK_THAT(standing_of(outcome, "speed=8000").at("reason").get<std::string>(), StartsWith("the best of 2"));
  CHECK(outcome.at("verdict").is_object());
  CHECK(run_count(race) == 6);
  const auto again = race.decide();
  CHECK(again.at("race") == outcome.at("race"));
  CHECK(again.at("study") == outcome.at("study"));
  CHECK(run_count(race) == 6);
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
  const Race race("interval: 0.01%, max_repeats: 5", equal);
  const auto first = race.decide();
  INFO(first.dump(1));
  REQUIRE(run_count(race) == 10);
  std::set<std::string> gone;
  const bool all = GENERATE(false, true);
  const auto status = race.json({"status"});
  for (const auto& run : status.at("runs")) {
    const auto name = run.at("name").get<std::string>();
    if (!all && name.find("/#1") == std::string::npos && name.find("/#4") == std::string::npos) continue;
    const auto key = run.at("key").get<std::string>();
    gone.insert(key);
    cancel_afterwards(race.home() / "runs" / key);
  }
  REQUIRE(gone.size() == (all ? 10U : 4U));
  REQUIRE(race.run({"db", "rebuild"}).ok());
  const auto again = race.decide();
  INFO(again.dump(1));
  CHECK(again.at("states") == Json{{"succeeded", 10}});
  CHECK(standing_of(again, "arm=1").at("repeats") == 5);
  CHECK(run_count(race) == 10);
  for (const auto& entry : std::filesystem::directory_iterator(race.home() / "runs"))
    CHECK(dt::attempt_numbers(entry.path()).size() == (gone.contains(entry.path().filename().string()) ? 2U : 1U));
}

TEST_CASE("a race whose runs all fail ends after one try of each, and held-back runs stop a race")
{
  const Race race("interval: 5%, max_repeats: 5", two_speeds, "", "resources: {setup: ['exit 3']}\n");
  const auto kept = race.decide({"--keep-going"});
  CHECK_THAT(standing_of(kept, "speed=1000").at("reason").get<std::string>(), StartsWith("none of its 3 runs"));
  CHECK(run_count(race) == 6);
  const auto held = race.decide();
  INFO(held.dump(1));
  CHECK_THAT(standing_of(held, "speed=1000").at("reason").get<std::string>(), Contains("call the same command again"));
}

TEST_CASE("a margin that no number of runs can resolve ends the race at the most repeats")
{
  const Race race("interval: 0.01%, max_repeats: 4", equal);
  const auto outcome = race.decide();
  INFO(outcome.dump(1));
  CHECK_THAT(standing_of(outcome, "arm=1").at("reason").get<std::string>(), StartsWith("not decided after 4 repeats"));
  CHECK(standing_of(outcome, "arm=1").at("repeats") == 4);
  CHECK(run_count(race) == 8);
}

TEST_CASE("a race stops before a round that its budget does not allow, and names the budget")
{
  const Race race("interval: 0.01%, max_repeats: 12, budget: 0.000000001 node-hours", equal);
  const auto outcome = race.decide();
  INFO(outcome.dump(1));
  CHECK_THAT(standing_of(outcome, "arm=1").at("reason").get<std::string>(), Contains("1e-09 node-hours"));
  CHECK(run_count(race) == 6); // the first round is always allowed
}

TEST_CASE("each size of a scaling study is a point of its own, and labels race at each size")
{
  const Race race("interval: 3%, max_repeats: 12", two_speeds, "mode: weak, ranks: [1, 2], ",
                  "resources: {oversubscribe: true}\n");
  const auto points = race.decide().at("race");
  INFO(points.dump(1));
  REQUIRE(points.size() == 4);
  for (const auto& point : points) {
    CHECK(point.at("repeats") == 3);
    const bool is_fast = point.at("label") == "speed=8000";
    CHECK_THAT(point.at("reason").get<std::string>(), StartsWith(is_fast ? "the best of 2" : "worse than"));
  }
  CHECK(run_count(race) == 12);
}

TEST_CASE("the verdict of a race is that of its rule, in results and in the report as in the sweep")
{
  const Race race("interval: 3%, max_repeats: 12", nearly_equal);
  const auto outcome = race.decide();
  INFO(outcome.dump(1));
  // A ranking of the same runs would say that the second is the best, by 0.1 %.
  const auto expected = "speed 1000, speed 1001 are the best of 2 by throughput and equivalent within 3 % after 3 repeats";
  // On a busy machine the sentence goes on and says so.
  CHECK_THAT(outcome.at("verdict").at("sentences").at(0).get<std::string>(), StartsWith(expected));
  CHECK(race.json({"results", "race"}).at("verdict") == outcome.at("verdict"));
  REQUIRE(race.run({"report", "race", "-o", "report.html"}).ok());
  CHECK_THAT(dt::read_file(race.folder() / "report.html"), Contains(expected));
}

TEST_CASE("a single run, a ladder, a race to no target or of one seed and rounds in order are refused, and a dry run shows the "
          "first round")
{
  const Race race("interval: 5%", two_speeds);
  race.write("one.yaml", dt::test::tiny_recipe());
  CHECK(race.decide({"--dry-run"}).at("runs").size() == 6);
  const dt::test::Words command{"sweep", "race.yaml", "--until-decided"},
      ladder{"study.layout=ladder", "resources.scheduler=slurm", "study.mode=strong", "study.ranks=[1,2]"},
      to_target{"study.until.metric=time-to-target"}, one_seed{"train.target_accuracy=0.5", "study.vary_seed=false"};
  struct Refused {
    dt::test::Words command, settings;
    const char* why;
  };
  for (const auto& [words, settings, why] :
       {Refused{{"sweep", "one.yaml", "--until-decided"}, {}, "has a single point, so there is nothing to decide"},
        Refused{command, ladder, "asks for a ladder, whose runs share one allocation"},
        Refused{command, to_target, "study.until.metric is time-to-target, but speed=1000 has no target"},
        Refused{command, with(to_target, one_seed), "trains all repeats of a point with one seed"},
        Refused{command, {"study.order=listed"}, "--until-decided needs study.order: random"},
        Refused{{"validate", "race.yaml"}, {"study.until.interval=5 apples"}, "`study.until.interval`"}}) {
    auto line = words;
    for (const auto& setting : settings) line.insert(line.end(), {"--set", setting});
    const auto refused = race.run(line);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains(why));
  }
}
