// dtctl sweep of a study that tunes keys (study.tune): each point gets its own best value, and only runs with it count.
#include "core/files/file.hpp"
#include "core/record/attempt_files.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <cmath>
#include <csignal>
#include <tuple>

#include <sys/wait.h>

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::Json;
using dt::test::Words;

namespace {

// A program whose error is smallest at a rate of 0.01 for arm 1, where it is 0.2, and at 0.3 for arm 2, where it is 0.1. From
// rates of 2 on it diverges. Seeds change the error by up to 3 %.
constexpr const char* training =
    "[ \"$RANK\" = 0 ] || exit 0\n"
    "while [ -e wait ]; do sleep 0.05; done\n"
    "awk -v rate=$DTCTL_PROGRAM_PARAMETERS_RATE -v arm=$DTCTL_PROGRAM_PARAMETERS_ARM -v repeat=$DTCTL_REPEAT 'BEGIN {\n"
    "  d = log(rate / (arm == 1 ? 0.01 : 0.3)) / log(10)\n"
    "  e = rate >= 2 ? 1 : (arm == 1 ? 0.2 : 0.1) * exp(0.4 * d * d) * (1 + 0.01 * ((repeat * 3) % 7 - 3))\n"
    "  printf \"accuracy %.5f\\n\", e < 1 ? 1 - e : 0 }'\n";

struct Tuned : Dtctl {
  explicit Tuned(const std::string& tune = "runs: 8")
  {
    write("train.sh", training);
    write("tuned.yaml", "version: 1\nname: tuned\nprogram:\n  command: [sh, train.sh]\n  files: [train.sh]\n"
                        "  parameters: {arm: 1, rate: 1}\n  metrics: {accuracy: 'accuracy ([0-9.]+)'}\n"
                        "study:\n  repeats: 3\n  tune: {keys: {program.parameters.rate: 0.001..1}, metric: accuracy, " +
                            tune + "}\nsweep: {matrix: {program.parameters.arm: [1, 2]}}\n");
  }
  Json attempts() const
  {
    return json({"query", "SELECT count(*) AS runs, max(attempt) AS attempts FROM runs"}).at("rows").at(0);
  }
};

const Json& row_of(const Json& outcome, const std::string& label)
{
  for (const auto& row : outcome.at("tuning"))
    if (row.at("label") == label) return row;
  throw std::runtime_error("no point " + label);
}

std::string rate_text(const Json& row)
{
  const auto text = row.at("tuned").get<std::string>();
  return text.substr(text.find('=') + 1);
}

double rate_of(const Json& row) { return std::stod(rate_text(row)); }

} // namespace

TEST_CASE("each point is tuned, its results have the tuned value and new seeds, and a second call submits nothing")
{
  const Tuned tuned;
  const auto outcome = tuned.json({"sweep", "tuned.yaml"});
  for (const auto& [label, optimum, error] : {std::tuple("arm=1", 0.01, 0.2), {"arm=2", 0.3, 0.1}}) {
    const auto& row = row_of(outcome, label);
    CHECK(row.at("state") == "tuned");
    CHECK(row.at("search_runs") == 8);
    CHECK(std::abs(std::log10(rate_of(row) / optimum)) < 0.3);
    CHECK(row.at("cost").get<double>() == Approx(error).epsilon(0.1));
  }
  const auto results = tuned.json({"results", "tuned"});
  CHECK(results.at("tuning") == outcome.at("tuning"));
  CHECK(tuned.json({"compare", "tuned"}).at("rankings").at(0).at("metric") == "accuracy"); // not by throughput
  for (const auto& said : {outcome, results}) {
    CHECK(said.at("verdict").at("standings").size() == 1);
    CHECK_THAT(said.at("verdict").at("sentences")[0].get<std::string>(), Contains("arm=2 is the best") || Contains("2 is"));
  }
  REQUIRE(results.at("scaling").size() == 2);
  for (const auto& point : results.at("scaling")) CHECK(point.at("runs") == 3);
  const auto runs = tuned.json({"query", "SELECT train_seed AS seed, control FROM runs_flat"});
  CHECK(runs.at("rows").size() == 2 * (8 + 3));
  for (const auto& run : runs.at("rows")) CHECK((run.at("seed").get<int>() < 1 + 3) == (run.at("control") == 0));
  const auto before = tuned.attempts();
  CHECK(tuned.json({"sweep", "tuned.yaml"}).at("tuning") == outcome.at("tuning"));
  CHECK(tuned.attempts() == before);
  auto of_four = tuned.json({"sweep", "tuned.yaml", "--set", "study.repeats=4"}).at("tuning"), of_three = outcome.at("tuning");
  for (auto* rows : {&of_four, &of_three})
    for (auto& row : *rows) row.erase("cost"); // the mean of the results
  CHECK(of_four == of_three);
  CHECK(tuned.attempts() == Json{{"runs", 2 * (8 + 4)}, {"attempts", 1}}); // the same search
}

TEST_CASE("a tuned study that is killed while it searches goes on with the same call, and no run is made twice")
{
  const Tuned tuned;
  tuned.write("wait", "");
  const auto child = tuned.start({"sweep", "tuned.yaml"});
  REQUIRE(eventually([&] { return !dt::names_in(tuned.home() / "runs").empty(); }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::filesystem::remove(tuned.folder() / "wait");
  CHECK(tuned.json({"sweep", "tuned.yaml"}).at("tuning").size() == 2);
  CHECK(tuned.attempts() == Json{{"runs", 2 * (8 + 3)}, {"attempts", 1}});
}

TEST_CASE("an optimum that the runs cannot enclose is not reported, and its point has no results")
{
  const Tuned tuned("runs: 6");
  tuned.write("train.sh", "[ \"$RANK\" = 0 ] || exit 0\n"
                          "awk -v rate=$DTCTL_PROGRAM_PARAMETERS_RATE 'BEGIN { printf \"accuracy %.9f\\n\", rate / 1e6 }'\n");
  const auto result = tuned.run({"sweep", "tuned.yaml"});
  CHECK_THAT(result.out, Contains("no optimum"));
  CHECK_THAT(tuned.run({"results", "tuned"}).out, Contains("No run with tuned values has ended yet"));
  CHECK(tuned.json({"query", "SELECT count(*) AS results FROM runs_flat WHERE control = 0"}).at("rows")[0].at("results") == 0);
}

TEST_CASE("a program that fails with every setting is no ordinary outcome of a search: results and reports say why, in sentences")
{
  const Tuned tuned("runs: 6");
  tuned.write("train.sh", "echo 'there are no data.' >&2\nexit 3\n");
  CHECK(tuned.run({"sweep", "tuned.yaml"}).exit_code == 1);
  const auto causes = tuned.json({"results", "tuned"}).at("common_causes");
  REQUIRE_FALSE(causes.empty());
  CHECK_THAT(causes[0].at("cause").get<std::string>(), Contains("there are no data."));
  for (const auto* format : {"html", "markdown"}) {
    const auto report = tuned.run({"report", "tuned", "--format", format, "-o", "-"}).out;
    CHECK_THAT(report, Contains("there are no data.") && Contains("Failures") && !Contains("data.."));
  }
}

TEST_CASE("runs of a search that failed before their first step are made again, once the cause is gone")
{
  const Tuned tuned;
  const auto cause = tuned.folder() / "no-data";
  tuned.write("train.sh", "[ -e '" + cause.string() + "' ] && exit 3\n" + training);
  tuned.write("no-data", "");
  CHECK(tuned.run({"sweep", "tuned.yaml"}).exit_code == 1);
  std::filesystem::remove(cause);
  const auto outcome = tuned.json({"sweep", "tuned.yaml"});
  for (const auto& [label, optimum] : {std::pair("arm=1", 0.01), std::pair("arm=2", 0.3)}) {
    CHECK(std::abs(std::log10(rate_of(row_of(outcome, label)) / optimum)) < 0.3);
    CHECK(row_of(outcome, label).at("search_runs_in_vain") == 0);
  }
}

TEST_CASE("a study that tunes shows its points in a dry run, and refuses --until-decided")
{
  const Tuned tuned;
  const auto dry = tuned.run({"sweep", "tuned.yaml", "--dry-run"});
  CHECK(dry.exit_code == 0);
  CHECK_THAT(dry.err, Contains("at most 22 runs in all"));
  CHECK_FALSE(std::filesystem::exists(tuned.home() / "studies"));
  CHECK(tuned.run({"sweep", "tuned.yaml", "--until-decided"}).exit_code == 2);
}

TEST_CASE("a setting that is far behind ends early, one that diverges is not run again, and the study succeeds")
{
  const Dtctl dtctl;
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "640", "--test", "100"}).ok());
  dtctl.write("tuned.yaml", "version: 1\nname: tuned\nmodel: {name: lenet}\ndata: {name: digits}\n"
                            "train: {global_batch: 32, epochs: 20000, eval_every_epochs: 1, target_accuracy: 0.5, "
                            "stop_at_target: true}\noptimizer: {name: sgd}\nresources: {time_limit: 10m}\n"
                            "study: {repeats: 3, tune: {keys: {optimizer.learning_rate: 1e-7..100}, runs: 6}}\n");
  const auto outcome = dtctl.json({"sweep", "tuned.yaml"}); // exit code 0
  const auto& row = outcome.at("tuning").at(0);
  CHECK(row.at("search_runs") == 6);
  CHECK(row.at("search_runs_in_vain").get<int>() >= 2);
  CHECK(outcome.at("states") == Json{{"succeeded", 3}});
  const auto ended = dtctl.json({"query", "SELECT state, cause, attempt FROM runs WHERE cause_kind = 'ended_early'"}).at("rows");
  REQUIRE_FALSE(ended.empty());
  CHECK(ended[0].at("state") == "cancelled");
  CHECK_THAT(ended[0].at("cause").get<std::string>(), Contains("without reaching the target; the best one took"));
  CHECK(dtctl.json({"query", "SELECT count(*) AS n FROM runs WHERE state = 'failed'"}).at("rows")[0].at("n").get<int>() >= 1);
  const auto held = dtctl
                        .json({"query", "SELECT sum(end_unix_s - begin_unix_s) AS s, avg(ln(time_to_accuracy_s)) AS log FROM "
                                        "runs_flat GROUP BY control ORDER BY control"})
                        .at("rows");
  CHECK(row.at("cost").get<double>() == Approx(std::exp(held[0].at("log").get<double>())));
  CHECK(row.at("cost_with_tuning").get<double>() == Approx(row.at("cost").get<double>() + held[1].at("s").get<double>()));
  CHECK(dtctl.json({"results", "tuned"}).at("common_causes").empty());
  CHECK(dtctl.json({"plot", "tuned", "--kind", "tuning"}).at("charts").size() == 1);
  const auto page = dtctl.run({"report", "tuned", "-o", "-"}).out,
             text = dtctl.run({"report", "tuned", "--format", "markdown"}).out;
  for (const auto& report : {page, text}) {
    CHECK_THAT(report, Contains("with tuning") && Contains("rate=" + rate_text(row)));
    CHECK_THAT(report, !Contains("Failures") && !Contains(".. ") && !Contains("..<"));
  }
  CHECK_THAT(page, Contains("chart-tuning"));
  const Json attempts{{"attempts", 1}};
  CHECK(dtctl.json({"query", "SELECT max(attempt) AS attempts FROM runs"}).at("rows")[0] == attempts);
  dtctl.json({"sweep", "tuned.yaml"});
  CHECK(dtctl.json({"query", "SELECT max(attempt) AS attempts FROM runs"}).at("rows")[0] == attempts);
}

TEST_CASE("a program of the user that is far behind ends early by its evaluations")
{
  const Dtctl dtctl;
  // Reaches the target after 12 steps at a rate of 0.1, later at others, and never more than a decade from there. The
  // steps take more than a second together: the time to the target of a shorter run is not known.
  dtctl.write("train.sh", "awk -v rate=$DTCTL_PROGRAM_PARAMETERS_RATE 'BEGIN {\n"
                          "  d = log(rate / 0.1) / log(10); d = d < 0 ? -d : d; needed = d > 1 ? -1 : 12 * (1 + 4 * d * d)\n"
                          "  for (i = 1; i < 100000; ++i) {\n"
                          "    system(\"sleep 0.1\"); reached = needed > 0 && i >= needed\n"
                          "    printf \"step %d accuracy %s\\n\", i, reached ? \"0.9\" : \"0.1\"; fflush()\n"
                          "    if (reached) exit } }'\n");
  dtctl.write("tuned.yaml", "version: 1\nname: tuned\nprogram:\n  command: [sh, train.sh]\n  files: [train.sh]\n"
                            "  parameters: {rate: 1}\n  metrics: {step: 'step ([0-9]+)', accuracy: 'accuracy ([0-9.]+)'}\n"
                            "train: {target_accuracy: 0.8}\nresources: {time_limit: 10m}\n"
                            "study: {repeats: 3, tune: {keys: {program.parameters.rate: 0.001..1}, runs: 6}}\n");
  dtctl.run({"sweep", "tuned.yaml"}); // whether six runs enclose the optimum is not the question
  const auto ended = dtctl.json({"query", "SELECT state, cause FROM runs WHERE cause_kind = 'ended_early'"}).at("rows");
  REQUIRE_FALSE(ended.empty());
  CHECK(ended[0].at("state") == "cancelled");
  CHECK_THAT(ended[0].at("cause").get<std::string>(), Contains("without reaching the target in an evaluation"));
}
