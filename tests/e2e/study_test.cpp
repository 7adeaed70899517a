// The main job: recipe -> jobs -> trained networks -> results.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;
using dt::test::with;
using dt::test::Words;

namespace {

constexpr const char* strong = "study: {mode: strong, ranks: [1, 2], repeats: 2}\n";

// A home in which the strong-scaling study has run.
struct RanStudy {
  Dtctl dtctl;
  Json outcome;
  RanStudy()
  {
    dtctl.write("tiny.yaml", tiny_recipe(strong));
    outcome = dtctl.json({"sweep", "tiny.yaml", "--wait"});
  }
  std::size_t count(const Words& words) const { return dtctl.json(words).at("runs").size(); }
  std::string key(std::size_t run) const { return outcome.at("runs")[run].at("key"); }
};

std::size_t attempts_in(const std::filesystem::path& home)
{
  std::size_t attempts = 0;
  for (const auto& run : std::filesystem::directory_iterator(home / "runs"))
    attempts += static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(run.path() / "attempts"), {}));
  return attempts;
}

// Two runs, one after the other: each takes the whole machine. The second one waits until there is a file `go`.
std::string second_waits(const std::filesystem::path& folder)
{
  const auto cores = std::to_string(std::thread::hardware_concurrency());
  const auto first = (folder / "first").string(), go = (folder / "go").string();
  return tiny_recipe("resources: {threads_per_rank: " + cores + ", setup: [\"if [ -e '" + first + "' ]; then while [ ! -e '" +
                     go + "' ]; do sleep 0.1; done; else : > '" + first + "'; fi\"]}\nsweep: {matrix: {train.seed: [1, 2]}}\n");
}

// A strong-scaling study over 1 and 2 ranks trains and has figures for both sizes.
void check_figures(const RanStudy& study)
{
  CHECK(study.outcome.at("exit_code") == 0);
  CHECK(study.outcome.at("counts") == Json{{"submitted", 4}});
  CHECK(study.outcome.at("states") == Json{{"succeeded", 4}});

  CHECK(study.dtctl.run({"results", "--runs"}).err == "");
  const auto rows = study.dtctl.json({"results"}).at("scaling");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("ranks") == 1);
  CHECK(rows[0].at("speedup") == 1.0);
  CHECK(rows[0].at("efficiency") == 1.0);
  CHECK(rows[0].at("efficiency_low").is_null()); // its own reference
  CHECK(rows[1].at("ranks") == 2);
  CHECK(rows[1].at("runs_succeeded") == 2);
  CHECK(rows[1].at("workers") == 2);
  CHECK(rows[1].at("baseline_size") == 1);
  CHECK(rows[1].at("efficiency") > 0.0);
  CHECK(rows[1].at("communication_share") > 0.0);
  CHECK(rows[1].at("accuracy").is_number());
}

// Selectors name studies and runs.
void check_selectors(const RanStudy& study)
{
  const auto id = study.outcome.at("study").get<std::string>();
  for (const auto& [words, count] : {std::pair{Words{}, 4U},
                                     {{"last"}, 4U},
                                     {{"tiny"}, 4U},
                                     {{"all"}, 4U},
                                     {{id.substr(0, 6)}, 4U},
                                     {{study.key(0).substr(0, 12)}, 1U},
                                     {{"tiny/ranks=2/#1"}, 1U},
                                     {{"--failed"}, 0U},
                                     {{"--where", "ranks>=2 strategy=sync-sgd"}, 2U},
                                     {{"--where", "ranks>=2", "--failed"}, 0U}}) {
    INFO(dt::join(words, " "));
    CHECK(study.count(with({"status"}, words)) == count);
  }
  for (const auto& [words, why] :
       {std::pair{Words{"status", "tinny"}, std::string("did you mean `tiny`?")},
        {{"status", study.key(0).substr(0, 3)}, study.key(0).substr(0, 3)},
        {{"status", "--where", "rnks=2"}, "ranks"},
        {{"export", "--format", "weights", "last", "-o", "weights.npz"}, "last matches 4 runs; give one of them:\n  "}}) {
    const auto refused = study.dtctl.run(words);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains(why));
  }
}

// What was kept of a run can be read in every way.
void check_what_is_kept(const RanStudy& study)
{
  const auto& dtctl = study.dtctl;
  CHECK(dtctl.json({"logs", study.key(0)}).at("state") == "succeeded");
  CHECK(dtctl.run({"logs", study.key(0), "-n", "1"}).out.size() < dtctl.run({"logs", study.key(0)}).out.size());
  CHECK(dtctl.json({"show", study.key(0)}).contains("result"));
  CHECK_THAT(dtctl.json({"explain", study.key(0)}).at("runs")[0].at("why").get<std::string>(), Contains("succeeded"));
  CHECK(dtctl.json({"show"}).at("recipe_text") == tiny_recipe(strong));
  CHECK_THAT(dtctl.run({"show", "--recipe"}).out, Contains(strong) && !Contains("to target"));
  CHECK(dtctl.json({"status", "--all"}).at("studies")[0].at("succeeded") == 4);
  CHECK(dtctl.json({"query", "select count(*) as n from runs_flat where throughput > 0"}).at("rows")[0].at("n") == 4);
  CHECK(dtctl.json({"export"}).at("runs").size() == 4);

  const auto csv = dt::split(dtctl.run({"export", "--where", "ranks=2"}).out, '\n');
  CHECK(csv.size() == 4); // head, 2 runs, and what follows the last line end
  CHECK(csv[0].starts_with("study,"));
  CHECK(dtctl.run({"export", "--format", "json", "-o", "runs.json"}).exit_code == 0);
  CHECK(Json::parse(dt::read_file(dtctl.folder() / "runs.json")).at("runs") == dtctl.json({"export"}).at("runs"));
}

// A rebuilt database gives the same results.
void check_rebuild(const RanStudy& study)
{
  const auto results = study.dtctl.json({"results"}), runs = study.dtctl.json({"export"});
  CHECK(study.dtctl.json({"db", "rebuild"}).at("runs") == 4);
  CHECK(study.dtctl.json({"results"}) == results);
  CHECK(study.dtctl.json({"export"}) == runs);
  CHECK(study.dtctl.json({"db", "check"}).at("problems").empty());

  std::filesystem::remove(study.dtctl.home() / "results.db");
  CHECK(study.dtctl.json({"results"}) == results);
}

// A torn database is an error that says how to make it again, and that helps.
void check_torn_database(const RanStudy& study)
{
  const auto before = study.dtctl.json({"results"});
  std::filesystem::resize_file(study.dtctl.home() / "results.db", 100);
  const auto broken = study.dtctl.run({"results"});
  CHECK(broken.exit_code == 74);
  CHECK_THAT(broken.err, Contains("db rebuild"));
  CHECK(study.dtctl.run({"db", "rebuild"}).exit_code == 0);
  CHECK(study.dtctl.json({"results"}) == before);
}

// Explain tells runs that another study had run, and what is new about a run. The last study has two new repeats.
void check_explanations(const RanStudy& study)
{
  const auto& dtctl = study.dtctl;
  const auto reused = dtctl.json({"explain", "--where", "repeat=0 ranks=1"}).at("runs")[0];
  CHECK_THAT(reused.at("why").get<std::string>(), Contains("skipped: an earlier study ran"));

  dtctl.json({"sweep", "tiny.yaml", "--set", "train.seed=5", "--set", "study.repeats=1", "--set", "study.ranks=[1]", "--wait"});
  const auto is_new = dtctl.json({"explain", "--where", "ranks=1"}).at("runs")[0];
  CHECK(is_new.at("differences") == Json{"train.seed: 1, now 5"});
}

// Submitting again submits nothing and says so, and only what is new is added.
void check_submitting_again(const RanStudy& study)
{
  const auto again = study.dtctl.json({"sweep", "tiny.yaml", "--wait"});
  CHECK(again.at("counts") == Json{{"already_done", 4}});
  CHECK_THAT(study.dtctl.run({"sweep", "tiny.yaml"}).out, Contains("4 already done"));
  CHECK(attempts_in(study.dtctl.home()) == 4);

  const auto more = study.dtctl.json({"sweep", "tiny.yaml", "--set", "study.repeats=3", "--wait"});
  CHECK(more.at("counts") == Json{{"already_done", 4}, {"submitted", 2}});
  CHECK(attempts_in(study.dtctl.home()) == 6);
  const auto plan = study.dtctl.json({"sweep", "--dry-run", "tiny.yaml", "--set", "study.repeats=4"});
  CHECK(plan.at("to_submit") == 2);
}

void check_force(const RanStudy& study)
{
  const auto before = attempts_in(study.dtctl.home());
  const auto forced = study.dtctl.json({"sweep", "tiny.yaml", "--set", "study.repeats=1", "--force", "--wait"});
  CHECK(forced.at("counts") == Json{{"submitted", 2}});
  CHECK(attempts_in(study.dtctl.home()) == before + 2);
}

} // namespace

TEST_CASE(
    "sweep --wait says in a log how long the rest takes, once a run has finished, and says nothing of it on standard output")
{
  const Dtctl dtctl;
  dtctl.write("two.yaml", second_waits(dtctl.folder()));
  const auto command = dt::shell_join(dtctl.command({"sweep", "two.yaml", "--wait"})) + " 2>&1 >out";
  std::vector<std::string> estimates;
  const auto log = dt::run_command({"sh", "-c", "cd " + dt::shell_quote(dtctl.folder().string()) + " && " + command}, 100, {},
                                   [&](std::string_view line) {
                                     if (!line.ends_with(" left")) return;
                                     estimates.emplace_back(line);
                                     dtctl.write("go", "");
                                   });
  dtctl.run({"cancel", "all"}); // if no estimate came, the second run still waits
  INFO(log.out);
  REQUIRE_FALSE(estimates.empty());
  CHECK_THAT(estimates.front(), Contains("  1 of 2 runs ended"));
  CHECK(log.out.find("succeeded") < log.out.find(estimates.front()));
  CHECK(log.exit_code == 0);
  CHECK(dt::read_file(dtctl.folder() / "out").find(" left") == std::string::npos);
  CHECK(dtctl.run({"status", "--follow", "last", "--quiet"}).err == "");
}

// The throughputs are given: on a busy machine one of three measured ones can be an outlier, and two have no interval.
TEST_CASE("the efficiency of two sizes is the ratio of their geometric means, with an interval over the repeats")
{
  const Dtctl dtctl;
  dtctl.write("given.yaml", R"yaml(version: 1
name: given
program:
  command:
    - python3
    - -c
    - "import os; r = int(os.environ['DTCTL_REPEAT']); w = int(os.environ['WORLD_SIZE']); print('throughput', w * (1000 + r) * (1 - 0.01 * r * (w - 1)))"
  metrics: {throughput: 'throughput ([0-9.]+)'}
study: {mode: strong, ranks: [1, 2], repeats: 3}
)yaml");
  CHECK(dtctl.json({"sweep", "given.yaml", "--wait"}).at("states") == Json{{"succeeded", 6}});
  CHECK_THAT(dtctl.run({"results"}).err, Contains("Geometric means"));
  const auto rows = dtctl.json({"results"}).at("scaling");
  REQUIRE(rows.size() == 2);
  const double efficiency = rows[1].at("efficiency");
  CHECK(efficiency == Approx(std::cbrt(1.00 * 0.99 * 0.98)));
  CHECK(rows[1].at("speedup") == Approx(2 * efficiency));
  CHECK(rows[1].at("efficiency_low").get<double>() < efficiency);
  CHECK(rows[1].at("efficiency_high").get<double>() > efficiency);
}

TEST_CASE("a strong-scaling study over 1 and 2 ranks: figures, selectors, what is kept, database, explanations, submitting again")
{
  const RanStudy study; // four trainings, once for all
  check_figures(study);
  check_selectors(study);
  check_what_is_kept(study);
  check_torn_database(study);
  check_rebuild(study);
  check_submitting_again(study);
  check_explanations(study);
  check_force(study);
}
