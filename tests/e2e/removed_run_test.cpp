// Runs whose folders go away while they run, and runs whose files are no files: they end, and dtctl says what became of them.
#include "core/files/file.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/run_record.hpp"
#include "jobs/local/queue.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::StartsWith;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::Json;

namespace {

// A home with a run of `program` (sh), whose folder it knows as $A, the file `go` of the test's folder as $GO.
struct Scene {
  Dtctl dtctl;
  std::string key, token;

  explicit Scene(const std::string& program, const std::string& limit = "1h")
  {
    dtctl.write("t.sh", "A=$(dirname \"$PWD\"); GO=" + (dtctl.folder() / "go").string() +
                            "\nwait_for_go() { until [ -e \"$GO\" ]; do sleep 0.02; done; }\n"
                            // dtjob may write a file between rm's look and its end.
                            "remove_attempt() { while [ -e \"$A\" ]; do rm -rf \"$A\"; done; }\n" +
                            program);
    dtctl.write("gone.yaml", "version: 1\nname: gone\nprogram:\n  command: [sh, t.sh]\n  files: [t.sh]\n"
                             "  metrics: { step: 'step (\\d+)', loss: 'loss (\\S+)' }\n"
                             "resources: { launch_tries: 1, time_limit: " +
                                 limit + " }\n");
    dtctl.json({"submit", "gone.yaml"});
    key = dt::names_in(dtctl.home() / "runs").front();
    REQUIRE(eventually([&] {
      const auto owner = dt::read_owner(attempt());
      if (owner) token = owner->token;
      return owner.has_value();
    }));
  }
  ~Scene() { dtctl.run({"cancel", "all"}); }
  dt::AttemptFolder attempt() const { return {dtctl.home() / "runs" / key, 1}; }
  Json run() const { return dtctl.json({"status", "gone"}).at("runs")[0]; }
  // No process of the job is left, and its queue is empty.
  void expect_all_ended() const
  {
    CHECK(eventually([&] { return dt::processes_with_token(token).empty(); }));
    CHECK(eventually([&] { return dt::jobs::local::Queue(dt::Home(dtctl.home())).list().empty(); }));
  }
  // The run has ended, and the verbs that change it say so.
  void expect_told(const std::string& cause) const
  {
    CHECK(run().at("state") == "failed");
    CHECK_THAT(run().at("cause").get<std::string>(), StartsWith(cause));
    CHECK(dtctl.json({"query", "SELECT state FROM runs"}).at("rows")[0].at("state") == "failed");
    CHECK(dtctl.json({"cancel", "all"}).at("cancelled") == 0);
    const auto removed = dtctl.run({"remove", "gone", "--runs", "--yes"});
    INFO(removed.out << removed.err);
    CHECK(removed.ok());
    CHECK_FALSE(fs::exists(dtctl.home() / "runs" / key));
  }
};

} // namespace

TEST_CASE("a run whose program removes its folder ends, frees its cores and is told to be removed while it ran")
{
  const auto* rest = GENERATE("", "sleep 3600\n", "mkdir -p \"$A\"; sleep 3600\n");
  const Scene scene(std::string("echo 'step 1 loss 0.5'; remove_attempt\n") + rest);
  scene.expect_all_ended();
  scene.expect_told("removed while it ran: " + scene.attempt().path().string() + " is gone");
  const auto again = scene.dtctl.run({"status", "--all"});
  CHECK(again.ok());
}

TEST_CASE("a run whose whole folder is removed while it runs ends, and the database tells it")
{
  const Scene scene("echo 'step 1 loss 0.5'; wait_for_go; sleep 3600\n");
  REQUIRE(eventually([&] { return scene.run().at("state") == "running"; }));
  fs::remove_all(scene.dtctl.home() / "runs" / scene.key);
  scene.expect_all_ended();
  scene.expect_told("removed while it ran: " + scene.attempt().path().string() + " is gone");
}

TEST_CASE("a removed run is done again by the next sweep")
{
  const Scene scene("echo 'step 1 loss 0.5'; [ -e \"$GO\" ] || remove_attempt; echo 'step 2 loss 0.5'\n");
  scene.expect_all_ended();
  scene.dtctl.write("go", "");
  const auto again = scene.dtctl.json({"submit", "gone.yaml", "--wait"});
  INFO(again.dump());
  CHECK(again.at("states") == Json{{"succeeded", 1}});
}

TEST_CASE("a time limit ends a run whatever its program has made of its files")
{
  const auto* trouble =
      GENERATE("for f in stdout stderr events.log heartbeat stop_reason launches; do rm -f \"$A/$f\"; "
               "mkfifo \"$A/$f\"; done",
               "rm -f \"$A/stderr\"; ln -s stderr \"$A/stderr\"", "chmod 0 \"$A\"", "mkfifo \"$A/fifo\"; exec < \"$A/fifo\"");
  const Scene scene(std::string("echo 'step 1 loss 0.5'\n") + trouble + "\nwhile :; do sleep 0.1; done\n", "3s");
  scene.expect_all_ended();
  std::error_code ignored;
  fs::permissions(scene.attempt().path(), fs::perms::owner_all, ignored);
  const auto run = scene.run();
  INFO(run.dump());
  if (run.at("state") == "unknown") // what is in the place of a log is no file
    CHECK_THAT(run.at("cause").get<std::string>(), Contains("stderr") || Contains("Is a FIFO or a device"));
  else
    CHECK(run.at("state") == "timed_out");
}

TEST_CASE("cancel all counts a run once, however many studies have it")
{
  const Scene scene("wait_for_go\n");
  scene.dtctl.write("other.yaml", dt::read_file(scene.dtctl.folder() / "gone.yaml").replace(11, 10, "name: other"));
  REQUIRE(scene.dtctl.run({"submit", "other.yaml"}).ok());
  REQUIRE(scene.dtctl.json({"query", "SELECT key FROM studies"}).at("rows").size() == 2);
  const auto cancelled = scene.dtctl.json({"cancel", "all"});
  CHECK(cancelled.at("cancelled") == 1);
  CHECK(cancelled.at("left_alone") == 0);
}

TEST_CASE("the time limit of a query holds while its rows are printed, although nobody reads them")
{
  const Dtctl dtctl;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto words =
      dtctl.command({"query", "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 50000) SELECT n FROM t",
                     "--timeout", "1", "--limit", "50000"});
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 2);
  for (const int end : ends) ::close(end);
}
