// What is said about progress, in a terminal and in a log.
#include "cli/follow/progress.hpp"

#include "cli/runs/run_tables.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <thread>

using namespace dt;
using namespace dt::cli;
using dt::test::Dtctl;
using dt::test::tiny_recipe;

namespace {

RunView in_state(RunState state)
{
  RunView run;
  run.row.key = "0123456789abcdef0123456789abcdef";
  run.row.state = state;
  return run;
}

// At step 120 of 400, 10 s after its begin.
RunView running()
{
  auto run = in_state(RunState::running);
  run.live.emplace();
  run.live->begin.emplace();
  run.live->begin->unix_s = 1000;
  run.live->heartbeat = Heartbeat{1010, 120, 400};
  return run;
}

const std::vector<RunView>& six_runs()
{
  static const std::vector runs{in_state(RunState::succeeded), in_state(RunState::failed), running(),
                                in_state(RunState::queued),    in_state(RunState::queued), in_state(RunState::queued)};
  return runs;
}

} // namespace

TEST_CASE("a running run says its step, its rate and its time left")
{
  auto run = running();
  CHECK(progress_text(run, 1010) == "step 120 of 400, 12 steps/s, 23s left");
  run.row.global_batch = 64;
  CHECK(progress_text(run, 1010) == "step 120 of 400, 768 samples/s, 23s left");
  run.steps_per_s = 28; // recently
  CHECK(progress_text(run, 1010) == "step 120 of 400, 1792 samples/s, 10s left");
  run.row.platform = "tianhe3";
  CHECK(progress_text(run, 1010) == "step 120 of 400, 28 steps/s, 10s left");
  run.live->heartbeat.reset();
  CHECK(progress_text(run, 1010) == "");
  CHECK(progress_text(in_state(RunState::queued), 1010) == "");
}

TEST_CASE("the headline is as wide as the terminal, and cut where the terminal is too narrow")
{
  CHECK(headline({in_state(RunState::succeeded), in_state(RunState::queued)}, 250, "17:41:30", 80) ==
        "[##########..........] 17:41:30  about 4 min left  2 runs: 1 succeeded, 1 queued");
  for (const std::size_t columns : {100u, 120u, 200u}) {
    const auto line = headline(six_runs(), 250, "17:41:30", columns);
    CHECK(display_width(line) == columns);
    CHECK(line.find("] 17:41:30  about 4 min left  6 runs: 1 succeeded, 1 running, 3 queued, 1 failed") != std::string::npos);
  }
  CHECK(display_width(headline(six_runs(), 250, "17:41:30", 40)) == 40);
  CHECK(headline(six_runs(), NAN, "17:41:30", 120).find("left") == std::string::npos);
}

TEST_CASE("a log says how many runs have ended and how long the others take")
{
  CHECK(log_line(six_runs(), NAN, 1010) == "2 of 6 runs ended, 1 running, 3 queued");
  CHECK(log_line(six_runs(), 250, 1010) == "2 of 6 runs ended, 1 running, 3 queued, about 4 min left");
  CHECK(log_line({running()}, NAN, 1010) == "0123456789  step 120 of 400, 12 steps/s, 23s left");
  CHECK(log_line({in_state(RunState::queued)}, NAN, 1010) == "");
  CHECK(log_line({in_state(RunState::succeeded), in_state(RunState::failed)}, NAN, 1010) == "");
}

TEST_CASE("a terminal shows samples a second, and one of 80 columns keeps the step of a run beside what another one waits for")
{
  const Dtctl dtctl;
  const auto cores = std::to_string(std::thread::hardware_concurrency());
  dtctl.write("long.yaml", "version: 1\nname: long\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 256}\n"
                           "train: {global_batch: 32, steps: 1000000, eval_every_epochs: 0}\nresources: {threads_per_rank: " +
                               cores + "}\nsweep: {matrix: {optimizer.learning_rate: [0.01, 0.02]}}\n");
  dt::test::TerminalSession session(dtctl, {"sweep", "long.yaml", "--wait"}, 80);
  CHECK(session.read_until("queued"));
  CHECK(session.read_until("/1000000"));
  session.resize(130);
  CHECK(session.read_until(" samples/s"));
  dtctl.run({"cancel", "all"});
}
