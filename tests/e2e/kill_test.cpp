// dtctl is killed at different moments of a sweep: nothing is lost, nothing runs twice, states stay true. The moments are events:
// a system call that changes files, or a run that has begun.
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/traced_program.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <catch2/catch.hpp>

#include <sys/wait.h>

using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;

namespace {

constexpr const char* study = "study: {mode: strong, ranks: [1, 2], repeats: 2}\n";

// Waits until so many attempts of the home have left that file; at most two minutes.
bool eventually_have(const Dtctl& dtctl, int count, std::filesystem::path (dt::AttemptFolder::*file)() const)
{
  const auto have = [&] {
    int found = 0;
    std::error_code no_runs_yet;
    for (const auto& entry : std::filesystem::directory_iterator(dtctl.home() / "runs", no_runs_yet))
      for (const int number : dt::attempt_numbers(entry.path()))
        found += std::filesystem::exists((dt::AttemptFolder(entry.path(), number).*file)()) ? 1 : 0;
    return found >= count;
  };
  for (int i = 0; i < 12'000 && !have(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return have();
}

void kill_and_wait(pid_t child, int signal, int& status)
{
  ::kill(child, signal);
  ::waitpid(child, &status, 0);
}

// Every run of the home has one attempt, and all succeeded.
void check_each_ran_once(const Dtctl& dtctl)
{
  const auto status = dtctl.json({"status", "tiny"});
  CHECK(status.at("states") == Json{{"succeeded", 4}});
  for (const auto& run : status.at("runs")) CHECK(run.at("attempt") == 1);
  CHECK(dtctl.json({"results"}).at("scaling").size() == 2);
  CHECK(dtctl.json({"db", "check"}).at("problems").empty());
}

} // namespace

TEST_CASE("dtctl killed while it submits: submitting again completes the study, and nothing runs twice")
{
  const auto sweep_until = [](const Dtctl& dtctl, int call) {
    dtctl.write("tiny.yaml", tiny_recipe(study));
    return dt::test::TracedProgram(dtctl.command({"sweep", "tiny.yaml"})).run(call);
  };
  const int calls = sweep_until(Dtctl(), 0).changes;
  for (int moment = 1; moment <= 6; ++moment) {
    const int call = 1 + (calls - 1) * moment / 7;
    INFO("killed before call " << call << " of the " << calls << " that change files");
    const Dtctl dtctl;
    CHECK(sweep_until(dtctl, call).killed);
    CHECK(dtctl.json({"sweep", "tiny.yaml", "--wait"}).at("exit_code") == 0);
    check_each_ran_once(dtctl);
  }
}

TEST_CASE("dtctl killed while it waits: the jobs go on, and any later call follows them")
{
  for (const int begun : {1, 2, 4}) {
    INFO("killed when " << begun << " runs have begun");
    const Dtctl dtctl;
    dtctl.write("tiny.yaml", tiny_recipe(study));
    const pid_t child = dtctl.start({"sweep", "tiny.yaml", "--wait"});
    CHECK(eventually_have(dtctl, begun, &dt::AttemptFolder::begin));
    int status = 0;
    kill_and_wait(child, SIGKILL, status);
    CHECK(dtctl.run({"status", "--follow", "tiny", "--timeout", "90s"}).exit_code == 0);
    check_each_ran_once(dtctl);
  }
}

TEST_CASE("Ctrl-C while waiting ends dtctl by that signal and leaves the jobs running")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe(study));
  const pid_t child = dtctl.start({"sweep", "tiny.yaml", "--wait"});
  CHECK(eventually_have(dtctl, 1, &dt::AttemptFolder::begin));
  int status = 0;
  kill_and_wait(child, SIGINT, status);
  CHECK(WIFSIGNALED(status));
  CHECK(dtctl.run({"status", "--follow", "--timeout", "90s"}).exit_code == 0);
  check_each_ran_once(dtctl);
}
