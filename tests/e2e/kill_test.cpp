// dtctl is killed while it waits for a sweep: nothing is lost, nothing runs twice, states stay true. Killed while it submits:
// tests/faults/inject_faults.cpp.
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <csignal>

#include <catch2/catch.hpp>

#include <sys/wait.h>

using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;

namespace {

constexpr const char* study = "study: {mode: strong, ranks: [1, 2], repeats: 2}\n";

// Waits until `count` attempts in the home have begun.
bool eventually_have(const Dtctl& dtctl, int count)
{
  return dt::test::eventually([&] {
    int found = 0;
    std::error_code no_runs_yet;
    for (const auto& entry : std::filesystem::directory_iterator(dtctl.home() / "runs", no_runs_yet))
      for (const int number : dt::attempt_numbers(entry.path()))
        found += std::filesystem::exists(dt::AttemptFolder(entry.path(), number).begin()) ? 1 : 0;
    return found >= count;
  });
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

TEST_CASE("dtctl killed or interrupted while it waits: the jobs go on, and any later call follows them")
{
  const auto [begun, signal] = GENERATE(table<int, int>({{1, SIGKILL}, {2, SIGINT}, {4, SIGKILL}}));
  INFO("signal " << signal << " when " << begun << " runs have begun");
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe(study));
  const pid_t child = dtctl.start({"sweep", "tiny.yaml", "--wait"});
  CHECK(eventually_have(dtctl, begun));
  ::kill(child, signal);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status)); // Ctrl-C ends it by that signal, too
  CHECK(dtctl.run({"status", "--follow", "tiny", "--timeout", "90s"}).exit_code == 0);
  check_each_ran_once(dtctl);
}
