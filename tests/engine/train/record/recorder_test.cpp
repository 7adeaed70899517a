// Event lines and heartbeat on their way to the disk.
#include "core/error.hpp"
#include "core/file.hpp"
#include "engine/train/record/recorder.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_disk.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

using namespace dt;
using dt::test::eventually;
using namespace dt::train;
using namespace std::chrono_literals;

namespace {

dt::AttemptFolder attempt_in(const dt::test::TemporaryFolder& folder)
{
  const auto path = folder.path() / "attempts" / "1";
  dt::make_folders(path);
  return dt::AttemptFolder(path);
}

dt::StepEvent step_event(std::int64_t step)
{
  dt::StepEvent event;
  event.step = step;
  event.loss = 1.0 / static_cast<double>(step);
  return event;
}

dt::EvalEvent eval_event(std::int64_t step)
{
  dt::EvalEvent event;
  event.step = step;
  event.accuracy = 0.5;
  return event;
}

} // namespace

TEST_CASE("after close every event stands in events.log, in order")
{
  const dt::test::TemporaryFolder folder;
  const auto attempt = attempt_in(folder);
  Recorder recorder({.attempt = attempt});
  for (int step = 1; step <= 1000; ++step) recorder.step(step_event(step));
  recorder.evaluation(eval_event(1000));
  recorder.close();
  const auto events = dt::parse_events(dt::read_file(attempt.events()));
  REQUIRE(events.steps.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(events.steps[i].step == static_cast<std::int64_t>(i) + 1);
  REQUIRE(events.evals.size() == 1);
  CHECK(events.evals[0].accuracy == 0.5);
}

TEST_CASE("events reach the file while training goes on")
{
  const dt::test::TemporaryFolder folder;
  const auto attempt = attempt_in(folder);
  Recorder recorder({.attempt = attempt, .flush_every_s = 0.01});
  recorder.step(step_event(1));
  CHECK(eventually([&] { return dt::parse_events(dt::read_file(attempt.events())).steps.size() == 1; }));
}

TEST_CASE("the heart beats from the start, during a long step, and tells the progress")
{
  const dt::test::TemporaryFolder folder;
  const auto attempt = attempt_in(folder);
  Recorder recorder({.attempt = attempt, .flush_every_s = 0.01, .beat_every_s = 0.02});
  const auto first = dt::read_heartbeat(attempt);
  REQUIRE(first);
  CHECK(first->step == 0);
  recorder.planned(70);
  recorder.step(step_event(7));
  CHECK(eventually([&] { return dt::read_heartbeat(attempt)->step == 7; }));
  CHECK(dt::read_heartbeat(attempt)->steps == 70);
  const auto then = dt::read_heartbeat(attempt)->unix_s;
  CHECK(eventually([&] { return dt::read_heartbeat(attempt)->unix_s > then; }));
}

TEST_CASE("a second recorder never appends to another's events")
{
  const dt::test::TemporaryFolder folder;
  const auto attempt = attempt_in(folder);
  Recorder recorder({.attempt = attempt});
  CHECK_THROWS_WITH(Recorder({.attempt = attempt}), "create " + attempt.events().string() + ": File exists");
}

TEST_CASE("a removed folder stops the training with the file's name")
{
  const dt::test::TemporaryFolder folder;
  const auto attempt = attempt_in(folder);
  Recorder recorder({.attempt = attempt, .flush_every_s = 0.001});
  recorder.step(step_event(1));
  std::filesystem::remove_all(attempt.path());
  const auto message = "write " + attempt.events().string() + ": No such file or directory";
  CHECK(eventually([&] {
    try {
      recorder.step(step_event(2));
      return false;
    } catch (const dt::Error& error) {
      return error.what() == message;
    }
  }));
}

TEST_CASE("a disk that fills up stops the training with the file's name, and whole lines before it stay readable")
{
  const dt::test::TemporaryFolder folder;
  const auto attempt = attempt_in(folder);
  const dt::test::TinyDisk disk(attempt.path(), 32 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: mounting a small file system needs root");
    return;
  }
  Recorder recorder({.attempt = attempt, .flush_every_s = 0.001});
  std::string message;
  try {
    for (std::int64_t step = 1; step < 1'000'000; ++step) recorder.step(step_event(step));
  } catch (const dt::Error& error) {
    CHECK(error.kind() == dt::ErrorKind::environment);
    message = error.what();
  }
  CHECK(message == "write " + attempt.events().string() + ": No space left on device");
  CHECK_THROWS_WITH(recorder.close(), message);
  CHECK_FALSE(dt::parse_events(dt::read_file(attempt.events())).steps.empty());
}
