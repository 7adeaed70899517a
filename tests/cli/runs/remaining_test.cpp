#include "cli/runs/results_store.hpp"
#include "cli/runs/run_tables.hpp"
#include "core/files/file.hpp"
#include "core/record/event_record.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::cli;

namespace {

// Begun at 1000 s, at `step` of 400 at 1010 s.
RunView running(std::int64_t step, std::int64_t resumed_step)
{
  RunView run;
  run.resumed_step = resumed_step;
  run.live.emplace();
  run.live->begin.emplace();
  run.live->begin->unix_s = 1000;
  run.live->heartbeat = Heartbeat{1010, step, 400};
  return run;
}

} // namespace

TEST_CASE("the time left follows from the speed so far, that of an attempt that goes on from a checkpoint from its own steps")
{
  CHECK(remaining_s(running(100, 0), 1010) == Approx(30));
  CHECK(remaining_s(running(100, 0), 1015) == Approx(25));
  CHECK(remaining_s(running(100, 0), 2000) == 0);
  CHECK(remaining_s(running(300, 280), 1010) == Approx(50)); // 20 steps in 10 s, 100 to go
  CHECK(std::isnan(remaining_s(running(280, 280), 1010)));
}

TEST_CASE("a program that goes on is measured by the steps since the first that it reported in this attempt")
{
  const test::TemporaryFolder folder;
  const Home home(folder.path());
  const AttemptFolder attempt(home.run("key"), 2);
  make_folders(attempt.path());
  std::string events;
  StepEvent event;
  for (event.step = 1001; event.step <= 1002; ++event.step) append_line(events, event);
  write_file_atomic(attempt.events(), events);
  const auto seen = running(1201, 0);
  jobs::RunStatus status;
  status.key = "key";
  status.verdict.state = RunState::running;
  status.attempt = 2;
  status.begin = seen.live->begin;
  status.heartbeat = seen.live->heartbeat;
  RunView run;
  put_status(home, run, status);
  CHECK(steps_per_s(run) == Approx(20)); // 200 steps in 10 s
}

TEST_CASE("while a run is suspended its time left stands still, and time that it was suspended does not count as work")
{
  auto run = running(100, 0); // 100 steps in 10 s, 300 to go
  run.live->job.is_suspended = true;
  CHECK(remaining_s(run, 1010) == Approx(30));
  CHECK(remaining_s(run, 5000) == Approx(30));

  auto resumed = running(200, 0); // it was suspended for 4000 s of these
  resumed.live->heartbeat->unix_s = 5020;
  resumed.live->job.suspended_s = 4000;
  CHECK(remaining_s(resumed, 5020) == Approx(20));
  resumed.live->job.suspended_s = 4020; // before its first step
  CHECK(std::isnan(remaining_s(resumed, 5020)));
}
