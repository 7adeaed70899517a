// The program as the shell sees it.
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::run_command;
using dt::test::Dtctl;

TEST_CASE("dtctl links neither MPI nor oneDNN")
{
  const auto libraries = run_command({"ldd", Dtctl::program()}).out;
  CHECK(libraries.find("libc.so") != std::string::npos);
  for (const char* name : {"libmpi", "libdnnl", "libgomp", "libhdf5"}) CHECK(libraries.find(name) == std::string::npos);
}

TEST_CASE("a reader that has enough is no error")
{
  for (const char* line : {"recipe docs", "recipe schema", "models"}) {
    const auto result = run_command({"bash", "-c", "set -o pipefail; '" + Dtctl::program() + "' " + line + " | head -1"});
    CHECK(result.exit_code == 0);
    CHECK(result.err == "");
  }
}

TEST_CASE("results that cannot be written are an error")
{
  const auto result = run_command({"bash", "-c", "'" + Dtctl::program() + "' recipe docs > /dev/full"});
  CHECK(result.exit_code == 74);
  CHECK(result.err == "dtctl: error: write the results to standard output: No space left on device\n");
}

TEST_CASE("messages go to standard error, results to standard output, and --quiet silences the first")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", dt::test::tiny_recipe());
  const auto loud = dtctl.run({"plan", "tiny.yaml"}), quiet = dtctl.run({"plan", "tiny.yaml", "--quiet"});
  CHECK(loud.err == "dtctl: nothing was submitted; every run's job script: add --scripts\n");
  CHECK(quiet.err == "");
  CHECK(loud.out == quiet.out);
}

TEST_CASE("a slip of the pen is answered with what was probably meant")
{
  const Dtctl dtctl;
  CHECK(dtctl.run({"stauts"})
            .err.starts_with("dtctl: error: there is no verb \"stauts\"; did you mean status?\nverbs: validate, plan, "));
  CHECK(dtctl.run({"db", "rebuidl"}).err ==
        "dtctl: error: there is no verb \"rebuidl\"; did you mean rebuild?\nverbs: migrate, rebuild, check\n");
  CHECK(dtctl.run({"status", "--failde"}).err ==
        "dtctl: error: there is no option --failde; did you mean --failed?; see: dtctl status --help\n");
  CHECK(dtctl.run({"status", "a", "b"}).err == "dtctl: error: nothing is expected at \"b\"; see: dtctl status --help\n");
  CHECK(dtctl.run({}).err == "dtctl: error: a verb is missing; see: dtctl --help\n");
}

TEST_CASE("help names every argument and option of a verb and fits 110 columns")
{
  const auto page = Dtctl().run({"sweep", "--help"}).out;
  for (const char* part : {"Usage: dtctl sweep [OPTIONS] RECIPE", "--set KEY=VALUE", "--over KEY=A,B,...", "--profile NAME",
                           "-n, --dry-run", "--wait", "--json", "Example"})
    CHECK(page.find(part) != std::string::npos);
}
