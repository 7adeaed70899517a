// resources.launcher: dtjob, with PATH without mpirun: ranks of a program without MPI.
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "tests/e2e/own_program.hpp"
#include "tests/support/eventually.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using dt::test::eventually;
using dt::test::Json;
using dt::test::Own;
using dt::test::recipe;
using dt::test::trainer;

namespace {

const std::string three_ranks = "resources: {ranks_per_node: 3, oversubscribe: true, launcher: dtjob}\n";

// Each rank writes its place among the others into a file of its own, in the folder of the test.
std::string places(const Own& own)
{
  return "rank = int(os.environ['RANK'])\nopen('" + own.dtctl.folder().string() +
         "/place-%d' % rank, 'w').write(' '.join(os.environ[n] for n in ('RANK', 'LOCAL_RANK', 'WORLD_SIZE')) + ' %s' % "
         "('mpirun' if 'OMPI_COMM_WORLD_RANK' in os.environ else 'no MPI'))\n";
}

std::string wait_forever(const Own& own)
{
  return "open('" + own.dtctl.folder().string() + "/up-%s' % os.environ['RANK'], 'w').close()\nwhile True: time.sleep(0.02)\n";
}

bool are_up(const Own& own)
{
  for (const auto* name : {"up-0", "up-1", "up-2"})
    if (!fs::exists(own.dtctl.folder() / name)) return false;
  return true;
}

} // namespace

TEST_CASE("dtjob starts the ranks of a program itself: each knows its place, and the run has the samples of all")
{
  const Own own("", recipe(three_ranks));
  own.dtctl.write("train.py", trainer(places(own)));
  const auto result = dt::test::result_of(own);
  CHECK(result.measured_samples == 3 * 3 * 10); // 3 ranks; 5 of the 8 steps are warm-up
  for (const auto* rank : {"0", "1", "2"})
    CHECK(dt::read_file(own.dtctl.folder() / (std::string("place-") + rank)) == std::string(rank) + " " + rank + " 3 no MPI");
}

TEST_CASE("the first rank that fails ends the others, and is named with its exit code or signal")
{
  const auto [how, expected] = GENERATE(table<std::string, std::string>(
      {{"os._exit(7)", "exit code 7"}, {"os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"}}));
  const Own own("", recipe(three_ranks));
  own.dtctl.write("train.py", "import os, signal, time\nif os.environ['RANK'] == '1': " + how + "\n" + wait_forever(own));
  own.submit();
  CHECK(own.state() == "failed");
  CHECK_THAT(own.cause(), Contains("rank 1 on " + dt::host_name()));
  CHECK_THAT(own.cause(), Contains(expected));
  CHECK(own.left_behind() == 0);
}

TEST_CASE("dtjob passes the warning ahead of a time limit to every rank")
{
  const dt::test::Dtctl dtctl;
  const auto agent = fs::path(dt::test::Dtctl::program()).parent_path() / "dtjob";
  dtctl.write("rank", "trap 'exit 0' USR1\ntouch up-$DTCTL_STARTED_RANK\nwhile true; do sleep 0.02; done\n");
  const auto result = dt::run_command({"bash", "-c",
                                       "cd " + dtctl.folder().string() + "; " + agent.string() +
                                           " ranks --count 2 bash rank & until [ -e up-0 ] && [ -e up-1 ]; do sleep 0.02; done; "
                                           "kill -USR1 $!; wait $!"},
                                      60);
  CHECK_FALSE(result.timed_out);
  CHECK(result.exit_code == 0);
}

TEST_CASE("a run that is cancelled leaves no rank of dtjob behind, also one that ignores SIGTERM")
{
  const Own own("", recipe(three_ranks));
  own.dtctl.write("train.py", "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + wait_forever(own));
  own.dtctl.json({"submit", "own.yaml"});
  REQUIRE(eventually([&] { return are_up(own); }));
  own.dtctl.run({"cancel", "all"});
  own.dtctl.run({"status", "--follow", "--timeout", "60s"});
  CHECK(own.state() == "cancelled");
  CHECK(eventually([&] { return own.left_behind() == 0; }));
}

TEST_CASE(
    "on a machine with neither mpirun nor dtengine, a recipe for a program says that dtjob starts its ranks, and the study runs")
{
  const dt::test::Dtctl dtctl;
  fs::create_directory(dtctl.folder() / "bin");
  for (const auto* name : {"bash", "env", "sh"}) fs::create_symlink(dt::find_installed(name), dtctl.folder() / "bin" / name);
  // Not the `python3` in PATH, which may be a script of pyenv that searches PATH for others.
  fs::create_symlink(dt::test::python(), dtctl.folder() / "bin" / "python3");
  const dt::test::Words machine{"PATH=" + (dtctl.folder() / "bin").string(), "DTCTL_ENGINE=/nowhere/dtengine"};
  dtctl.write("train.py", trainer());
  REQUIRE(dtctl.run({"new", "mine.yaml", "--program", "train.py", "--ranks", "1,2", "--repeats", "1"}, machine).ok());
  CHECK_THAT(dt::read_file(dtctl.folder() / "mine.yaml"), Contains("launcher: dtjob\n"));
  for (const auto& finding : dtctl.json({"doctor"}, machine).at("findings"))
    if (finding.at("check") == "engine" || finding.at("check") == "mpi") CHECK(finding.at("level") == "warn");
  const auto swept = dtctl.json({"sweep", "mine.yaml", "--wait"}, machine);
  CHECK(swept.at("states") == Json{{"succeeded", 2}});
}
