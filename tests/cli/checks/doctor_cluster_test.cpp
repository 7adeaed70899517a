// What doctor makes of the trials of launchers, without a cluster.
#include "cli/checks/launcher_trial.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;

namespace {

Finding named(const std::vector<Finding>& findings, const std::string& check)
{
  for (const auto& finding : findings)
    if (finding.check == check) return finding;
  return {};
}

const std::vector<LaunchWay> two_ways{{"mpirun", {}}, {"srun", {"--mpi=pmix"}}};

// As the job leaves it: a line and the outputs of a try.
void put_try(const std::filesystem::path& folder, int way, int number, int code, const std::string& out,
             const std::string& err = "")
{
  const auto name = std::to_string(way) + "." + std::to_string(number);
  write_file_atomic(folder / (name + ".out"), out);
  write_file_atomic(folder / (name + ".err"), err);
  const auto lines = read_file_if_exists(folder / "results").value_or("");
  write_file_atomic(folder / "results",
                    lines + std::to_string(way) + " " + std::to_string(number) + " " + std::to_string(code) + " 500\n");
}

} // namespace

TEST_CASE("a launch has worked when its ranks met, not when it ended with 0")
{
  const test::TemporaryFolder folder;
  put_try(folder.path(), 0, 1, 0, "hello 4 ranks on 2 hosts\n");
  put_try(folder.path(), 0, 2, 0, "hello 4 ranks on 2 hosts\n");
  put_try(folder.path(), 1, 1, 0, "hello 1 ranks on 1 hosts\nhello 1 ranks on 1 hosts\n");
  put_try(folder.path(), 1, 2, 139, "", "srun: error: node0: task 0: Exited\n-----\nsegmentation fault\nmore\n");
  const auto outcomes = read_outcomes(two_ways, folder.path(), 4, 2);
  CHECK(outcomes[0].worked == 2);
  CHECK(outcomes[0].median_s == 0.5);
  CHECK(outcomes[1].worked == 0);
  CHECK(outcomes[1].apart == 1);
  CHECK(outcomes[1].words == "exit code 139: segmentation fault");
  CHECK(best_way(outcomes)->way.name() == "mpirun");
}

TEST_CASE("the launcher that always works is advised, and the one that crashes now and then is warned of")
{
  const std::vector<TrialOutcome> outcomes{{two_ways[0], 5, 5, 0, 0.8, ""}, {two_ways[1], 5, 4, 0, 0.3, "exit code 139"}};
  const auto findings = judge_outcomes(outcomes);
  CHECK(named(findings, "mpirun").level == Level::ok);
  CHECK(named(findings, "srun --mpi=pmix").level == Level::warn);
  CHECK(named(findings, "srun --mpi=pmix").found == "4 of 5 launches worked, 300 ms each");
  CHECK(named(findings, "launcher").advice.ends_with(" resources: { launcher: mpirun }"));
}

TEST_CASE("the only launcher that works at all is advised with its plugin, and none at all is a failure")
{
  std::vector<TrialOutcome> outcomes{{two_ways[0], 5, 0, 0, 0, "not found"}, {two_ways[1], 5, 4, 0, 0.3, "exit code 139"}};
  CHECK(named(judge_outcomes(outcomes), "launcher").level == Level::warn);
  CHECK(named(judge_outcomes(outcomes), "launcher").advice.find("launcher_args: [--mpi=pmix]") != std::string::npos);
  outcomes[1].worked = 0;
  CHECK(named(judge_outcomes(outcomes), "launcher").level == Level::fail);
}

TEST_CASE("the trial's script records every try of a launcher, also of one that is not there")
{
  const test::TemporaryFolder folder;
  RunSpec spec;
  spec.resources.env = {{"PATH", "/usr/bin:/bin"}, {"A", "it's"}};
  spec.resources.setup = {"mpirun() { false; }", "export -f mpirun"}; // `timeout` finds programs only, so this one is not it
  const auto script = trial_script(spec, std::vector{two_ways[0]}, "/no/such/dtengine", "/no/such/dtjob", folder.path());
  write_file_atomic(folder.path() / "script", script);
  CHECK(run_command({"bash", (folder.path() / "script").string()}, 60).ok());
  const auto outcomes = read_outcomes(std::vector{two_ways[0]}, folder.path(), 2, 2);
  CHECK(outcomes[0].tries == tries_a_way);
  CHECK(outcomes[0].worked == 0);
  CHECK_FALSE(outcomes[0].words.empty());
  CHECK(std::filesystem::exists(folder.path() / "done"));
}
