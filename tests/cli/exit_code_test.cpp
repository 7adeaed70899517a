// The exit codes that scripts depend on, from the program itself. A change here breaks users.
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::tiny_recipe;
using dt::test::Words;

TEST_CASE("exit code 0: it worked")
{
  const Dtctl dtctl;
  for (const auto& words :
       std::vector<Words>{{"--version"}, {}, {"--help"}, {"help", "sweep"}, {"recipe", "models"}, {"status", "--all"}})
    CHECK(dtctl.run(words).exit_code == 0);
}

TEST_CASE("exit code 2: the command line is wrong")
{
  const Dtctl dtctl;
  for (const std::string line :
       {"statsu", "wait", "db", "db chek", "status --jsn", "status a b", "status all --all", "help statsu", "submit", "status",
        "status --follow --timeout soon", "status --follow --timeout 60", "completion tcsh"}) {
    const auto words = dt::split(line, ' ');
    const auto result = dtctl.run(words);
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out == "");
  }
  CHECK(dtctl.run({"query", "delete from runs"}).exit_code == 2);
}

TEST_CASE("exit code 2: no home can be at this place, and nothing is submitted to it")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto longer = (dtctl.folder() / std::string(240, 'd') / std::string(240, 'd')).string();
  for (const auto& words : std::vector<Words>{{"submit", "tiny.yaml"}, {"doctor"}, {"results"}}) {
    const auto result = dtctl.run(words, {"DTCTL_HOME=" + longer});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::Contains("too long a path"));
  }
  CHECK_FALSE(std::filesystem::exists(longer));
  const auto file = dtctl.write("file", "x");
  CHECK_THAT(dtctl.run({"doctor"}, {"DTCTL_HOME=" + file.string()}).err, Catch::Contains("is no folder"));
}

TEST_CASE("exit code 2: the recipe is wrong, with file, line and column")
{
  const Dtctl dtctl;
  dtctl.write("wrong.yaml", tiny_recipe("sync: {stratgy: sync-sgd}\n"));
  const auto result = dtctl.run({"validate", "wrong.yaml"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.starts_with("wrong.yaml:6:8: "));
  CHECK(result.err.find("strategy") != std::string::npos);
}

TEST_CASE("exit code 3: no run could be submitted, because the scheduler refused")
{
  const Dtctl dtctl;
  dtctl.write("huge.yaml", tiny_recipe("resources: {ranks_per_node: 4, threads_per_rank: 64}\n"));
  CHECK(dtctl.run({"submit", "huge.yaml"}).exit_code == 3);
}

TEST_CASE("exit code 74: the machine refused")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  for (const std::string name : {"DTCTL_ENGINE", "DTCTL_JOB_AGENT"}) {
    const auto missing = dtctl.run({"submit", "tiny.yaml"}, {name + "=/nowhere/program"});
    CHECK(missing.exit_code == 74);
    CHECK_THAT(missing.err, Catch::Contains(" is not at /nowhere/program; ") && Catch::Contains("name it in " + name));
  }
  CHECK(dtctl.run({"db", "check"}).exit_code == 74);
  CHECK(dtctl.run({"status", "--all"}).out.find("tiny") == std::string::npos);
  CHECK(dtctl.run({"submit", "tiny.yaml"}, {"DTCTL_HOME=/proc/dtctl"}).exit_code == 74);
}
