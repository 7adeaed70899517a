// The program as the shell sees it.
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::run_command;
using dt::test::Dtctl;
using dt::test::tiny_recipe;

TEST_CASE("dtctl links neither MPI nor oneDNN")
{
  const auto libraries = run_command({"ldd", Dtctl::program()}).out;
  CHECK(libraries.find("libc.so") != std::string::npos);
  for (const char* name : {"libmpi", "libdnnl", "libgomp", "libhdf5"}) CHECK(libraries.find(name) == std::string::npos);
}

TEST_CASE("a reader that has enough is no error")
{
  for (const char* line : {"recipe docs", "recipe schema", "recipe models"}) {
    const auto result = run_command({"bash", "-c", "set -o pipefail; '" + Dtctl::program() + "' " + line + " | head -1"});
    CHECK(result.exit_code == 0);
    CHECK(result.err == "");
  }
}

TEST_CASE("a full disk or a limit of a file's size ends with exit code 74, for results as for what a submission writes")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", dt::test::tiny_recipe());
  const auto limited = [&](const std::string& words) {
    return run_command({"bash", "-c",
                        "cd '" + dtctl.folder().string() + "' && export DTCTL_HOME='" + dtctl.home().string() +
                            "' && ulimit -f 1 && '" + Dtctl::program() + "' " + words});
  };
  CHECK(limited("recipe docs > /dev/full").exit_code == 74);
  const auto printed = limited("recipe docs > docs.md");
  CHECK(printed.signal == 0);
  CHECK(printed.exit_code == 74);

  const auto submitted = limited("submit tiny.yaml");
  CHECK(submitted.exit_code == 74);
  CHECK_THAT(submitted.err, Catch::Contains("File too large"));
  CHECK(dtctl.run({"submit", "tiny.yaml", "--wait"}).ok()); // nothing half done is in the way
}

TEST_CASE("messages go to standard error, results to standard output, and --quiet silences both but not what programs read")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto loud = dtctl.run({"sweep", "--dry-run", "tiny.yaml"}),
             quiet = dtctl.run({"sweep", "--dry-run", "tiny.yaml", "--quiet"});
  CHECK_FALSE(loud.err.empty());
  CHECK(quiet.err == "");
  CHECK_FALSE(loud.out.empty());
  CHECK(quiet.out == "");
  CHECK(dtctl.json({"sweep", "--dry-run", "tiny.yaml", "--quiet"}).at("runs").size() == 1);
  CHECK_FALSE(dtctl.run({"recipe", "docs", "--quiet"}).out.empty()); // asked for verbatim
  CHECK(dtctl.run({"sweep", "--dry-run", "absent.yaml", "--quiet"}).err.find("absent.yaml") != std::string::npos);
}

TEST_CASE("option --quiet silences the progress and the tables of runs that are waited for, too")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto waited = dtctl.run({"submit", "tiny.yaml", "--wait", "--quiet"});
  CHECK(waited.exit_code == 0);
  CHECK(waited.err == "");
  CHECK(dtctl.run({"results"}).err == ""); // nothing about efficiency or medians of a single run
  CHECK(dtctl.run({"status", "--follow", "--quiet"}).err == "");
  CHECK(dtctl.run({"status", "--follow"}).out.find("succeeded") != std::string::npos);
  for (const auto* line : {"status --follow", "status", "status --all", "explain", "results"}) {
    INFO(line);
    auto words = dt::split(line, ' ');
    words.push_back("--quiet");
    const auto result = dtctl.run(words);
    CHECK(result.ok());
    CHECK(result.out + result.err == "");
  }
}

TEST_CASE("of a study with several runs, logs shows the one that began last and says which")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe("sweep: {matrix: {train.seed: [1, 2]}}\n"));
  REQUIRE(dtctl.run({"sweep", "tiny.yaml", "--wait"}).exit_code == 0);
  const auto logs = dtctl.run({"logs", "last"});
  CHECK(logs.exit_code == 0);
  CHECK(logs.err.find("tiny has 2 runs; this is ") != std::string::npos);
  CHECK(dtctl.json({"results", "--where", "seed=2"}).at("runs").size() == 1); // the label that tables print
}

TEST_CASE("a number that an option does not take is refused in one short line")
{
  const auto refused = Dtctl().run({"query", "select 1", "--limit", "-1"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("it takes a number greater than 0, not -1") != std::string::npos);
  CHECK(refused.err.size() < 200);
}

TEST_CASE("plan, sweep and explain agree about runs that this machine can never hold, and tell each reason once")
{
  const Dtctl dtctl;
  const std::string sizes = "resources: {nodes: 4}\nsweep: {matrix: {train.seed: [1, 2, 3]}}\n";
  const std::string reason = "It asks for 4 nodes, but the local scheduler has only this machine";
  dtctl.write("fits.yaml", tiny_recipe());
  REQUIRE(dtctl.run({"submit", "fits.yaml", "--wait"}).exit_code == 0);
  dtctl.write("wide.yaml", tiny_recipe(sizes));
  const auto plan = dtctl.run({"sweep", "--dry-run", "wide.yaml"});
  CHECK(plan.out.find("3, of which 0 would be submitted") != std::string::npos);
  CHECK(plan.out.find("3 runs: " + reason) != std::string::npos);
  CHECK(plan.out.find(reason) == plan.out.rfind(reason));
  CHECK(dtctl.json({"sweep", "--dry-run", "wide.yaml"}).at("refusals")[0].at("runs") == 3);
  const auto sweep = dtctl.run({"sweep", "wide.yaml"});
  CHECK(sweep.exit_code == 3);
  CHECK(sweep.out.find("3 runs: " + reason) != std::string::npos);
  CHECK(sweep.out.find(reason) == sweep.out.rfind(reason));
  CHECK(dtctl.json({"status", "last"}).at("runs").size() == 1); // what was wholly refused is no study

  dtctl.write("some.yaml", tiny_recipe("sweep: {matrix: {train.seed: [7], resources.nodes: [1, 4]}}\n"));
  CHECK(dtctl.run({"sweep", "some.yaml", "--wait"}).exit_code == 4);
  const auto explain = dtctl.run({"explain", "last"});
  CHECK(explain.out.find("it was refused: " + reason) != std::string::npos);
  CHECK(explain.out.find("never submitted") == std::string::npos);
}

TEST_CASE("the list of studies counts cancelled runs as cancelled")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe("resources: {setup: [sleep 1000]}\nsweep: {matrix: {train.seed: [1, 2]}}\n"));
  REQUIRE(dtctl.run({"sweep", "tiny.yaml"}).exit_code == 0);
  REQUIRE(dtctl.run({"cancel", "all"}).exit_code == 0);
  dtctl.run({"status", "--follow", "all"});
  const auto list = dtctl.run({"status", "--all"});
  CHECK(list.out.find("0/2, 2 cancelled") != std::string::npos);
  CHECK(list.out.find("failed") == std::string::npos);
  CHECK(dtctl.json({"status", "--all"}).at("studies")[0].at("ends") == dt::test::Json{{"cancelled", 2}});
}

TEST_CASE("a slip of the pen is answered with what was probably meant")
{
  const Dtctl dtctl;
  const auto told = [&](const dt::test::Words& words) { return dtctl.json(words).at("error").at("message").get<std::string>(); };
  CHECK_THAT(told({"stauts"}),
             Catch::StartsWith("there is no verb `stauts`; did you mean `dtctl status`? Allowed: new, validate, "));
  CHECK_THAT(told({"db", "rebuidl"}), Catch::Contains("did you mean `dtctl db rebuild`? Allowed: migrate, rebuild, check"));
  CHECK_THAT(told({"status", "--failde"}), Catch::Contains("did you mean --failed?; see: dtctl status --help"));
  CHECK_THAT(told({"status", "a", "b"}), Catch::Contains("unexpected argument \"b\""));
  CHECK_THAT(told({}), Catch::Contains("a verb is missing"));
}
