// dtctl killed with SIGKILL at different moments of a sweep: nothing is lost, nothing runs twice, states stay true.
#include "tests/cli/driver.hpp"

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

void kill_after(pid_t child, std::chrono::milliseconds delay)
{
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
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
  for (const int delay_ms : {1, 3, 6, 10, 15, 22, 30, 45, 70, 120}) {
    INFO("killed after " << delay_ms << " ms");
    const Dtctl dtctl;
    dtctl.write("tiny.yaml", tiny_recipe(study));
    kill_after(dtctl.start({"sweep", "tiny.yaml"}), std::chrono::milliseconds(delay_ms));
    CHECK(dtctl.json({"sweep", "tiny.yaml", "--wait"}).at("exit_code") == 0);
    check_each_ran_once(dtctl);
  }
}

TEST_CASE("dtctl killed while it waits: the jobs go on, and any later call follows them")
{
  for (const int delay_ms : {200, 600, 1200, 2000}) {
    INFO("killed after " << delay_ms << " ms");
    const Dtctl dtctl;
    dtctl.write("tiny.yaml", tiny_recipe(study));
    kill_after(dtctl.start({"sweep", "tiny.yaml", "--wait"}), std::chrono::milliseconds(delay_ms));
    CHECK(dtctl.run({"wait", "tiny", "--timeout", "90"}).exit_code == 0);
    check_each_ran_once(dtctl);
  }
}

TEST_CASE("Ctrl-C while waiting ends dtctl by that signal and leaves the jobs running")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe(study));
  const pid_t child = dtctl.start({"sweep", "tiny.yaml", "--wait"});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(dtctl.run({"wait", "--timeout", "90"}).exit_code == 0);
  check_each_ran_once(dtctl);
}
