// Causes of failed launches, and studies whose runs all fail in the same way.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/e2e/own_program.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::Own;
using dt::test::recipe;
using dt::test::trainer;

namespace {

const std::string no_torch = "exit code 1: ModuleNotFoundError: No module named 'no_such_torch'";
const std::string eight_runs = "study: {repeats: 4}\nsweep: {matrix: {train.seed: [1, 2]}}\n";

std::size_t count(const Json& outcome, const std::string& state)
{
  return outcome.at("states").contains(state) ? outcome.at("states").at(state).get<std::size_t>() : 0;
}

std::size_t times(const std::string& text, const std::string& part)
{
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

} // namespace

TEST_CASE("the cause of a program that cannot import is the last line of its traceback, on one rank and on two")
{
  const auto ranks = GENERATE("1", "2");
  const Own own("import no_such_torch\n",
                recipe(std::string("resources: {oversubscribe: true, ranks_per_node: ") + ranks + "}\n"));
  own.submit();
  CHECK(own.cause().ends_with(no_torch)); // of two ranks, mpirun may say which one failed first
}

TEST_CASE("the cause of a launch that mpirun refuses is mpirun's sentence, not dtctl's note that it was tried again")
{
  struct Row {
    std::string setting, cause;
  };
  const auto row = GENERATE(
      Row{"resources.launcher_args=[--bogus]", "exit code 1: mpirun: Error: unknown option \"--bogus\""},
      Row{"resources.env.TMPDIR=/proc/nope", "A call to mkdir was unable to create the desired directory (Directory: /proc/nope"},
      Row{"resources.launcher_args=[-H, \"nohost:2\"]", "nohost"});
  const Dtctl dtctl;
  dtctl.write("one.yaml", dt::test::tiny_recipe());
  const auto run =
      dtctl.json({"submit", "one.yaml", "--wait", "--set", row.setting, "--set", "resources.launch_tries=2"}).at("runs")[0];
  INFO(run.dump(1));
  CHECK_THAT(run.at("cause").get<std::string>(), Contains(row.cause));
  CHECK_THAT(run.at("cause").get<std::string>(), !Contains("is tried again"));
}

TEST_CASE("the cause of ranks that Open MPI cannot start is its sentence, or its own error if it loses that")
{
  const Dtctl dtctl;
  dtctl.write("one.yaml", dt::test::tiny_recipe());
  // mpirun prints another message or a line of ORTE_ERROR_LOG in its place, in up to half of all launches.
  constexpr auto sentence = "A requested component was not found, or was unable to be opened (Host: ";
  std::string cause;
  for (int tries = 0; tries < 20 && cause.find(sentence) == std::string::npos; ++tries) {
    cause = dtctl
                .json({"submit", "one.yaml", "--wait", "--force", "--set", "resources.launcher_args=[--mca, pml, nosuch]",
                       "--set", "resources.launch_tries=1"})
                .at("runs")[0]
                .at("cause")
                .get<std::string>();
    CHECK_THAT(cause, !Contains("nothing was printed"));
  }
  CHECK_THAT(cause, Contains(sentence));
}

TEST_CASE(
    "a study whose first runs fail in the same way says so once and holds the rest back, which --keep-going and a remedy start")
{
  const Own own("import no_such_torch\n", recipe(eight_runs));
  const auto text = own.dtctl.run({"sweep", "own.yaml", "--wait"});
  INFO(text.out << text.err);
  CHECK(text.exit_code == 1);
  CHECK_THAT(text.out, Contains(no_torch) && Contains("held back") && Contains("--keep-going"));
  CHECK(times(text.out, "No module named") == 1);

  const auto status = own.dtctl.json({"status"});
  CHECK(count(status, "failed") >= 3);
  CHECK(count(status, "cancelled") >= 1);
  CHECK(count(status, "failed") + count(status, "cancelled") == 8);
  CHECK(status.at("common_causes").size() == 2);
  CHECK(times(own.dtctl.run({"explain"}).out, "ended as failed") == 1);
  CHECK_THAT(own.dtctl.run({"results"}).out, Contains("failed in the same way"));

  CHECK(count(own.dtctl.json({"sweep", "own.yaml", "--wait", "--keep-going"}), "failed") == 8);
  own.dtctl.write("train.py", trainer());
  const auto again = own.dtctl.json({"sweep", "own.yaml", "--wait"});
  CHECK(count(again, "succeeded") == 8);
}
