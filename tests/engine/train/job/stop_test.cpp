// dtengine under mpirun, told to stop: by signals, `cancel` and fences; and what the next attempt makes of its checkpoints.
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/held_ranks.hpp"
#include "tests/support/running_job.hpp"
#include "tests/support/tiny_disk.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <random>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::end_of;
using dt::test::EngineRun;
using dt::test::eventually;
using dt::test::HeldRanks;
using dt::test::other_than_root;
using dt::test::RunningJob;
using dt::train::list_checkpoints;

namespace {

// Momentum, shuffled data, a schedule that moves every step, several evaluations.
dt::RunSpec seconds_of_training(std::int64_t ranks)
{
  auto spec = dt::test::small_lenet(ranks, 2500);
  spec.train.global_batch = 24;
  spec.train.steps = 4000;
  spec.optimizer.learning_rate = 0.005;
  spec.optimizer.schedule = "cosine";
  return spec;
}

dt::RunSpec endless(std::int64_t ranks) { return dt::test::endless(seconds_of_training(ranks)); }

// What the optimiser saw and did at each step, to the last bit: the line without its times.
std::map<std::int64_t, std::string> trajectory(const dt::AttemptFolder& attempt)
{
  std::map<std::int64_t, std::string> steps;
  for (const auto& event : dt::parse_events(dt::read_file(attempt.events())).steps)
    steps[event.step] = dt::format_shortest(event.loss.value()) + " " + dt::format_shortest(event.learning_rate.value());
  return steps;
}

// Waits until ranks are held and more than a second has passed in their run since, by its own clock.
bool let_a_checkpoint_be_due(const HeldRanks& held, const dt::AttemptFolder& attempt)
{
  if (!eventually([&] { return held.count() > 0; })) return false;
  const double from_unix_s = dt::now_unix_s();
  return eventually([&] {
    const auto beat = dt::read_heartbeat(attempt);
    return beat && beat->unix_s > from_unix_s + 1;
  });
}

// Attempts until one has a result, each but that one told to stop in the midst of its training.
int run_in_pieces(const EngineRun& run, int ranks, std::mt19937& random)
{
  const HeldRanks held;
  for (int number = 1; number < 40; ++number) {
    const auto calls = static_cast<int>(random() % 600);
    held.hold(calls);
    RunningJob job(run, ranks, number, held.environment());
    const auto has_ended = [&] { return job.end.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
    if (job.mpirun > 0) {
      eventually([&] { return held.count() > 0 || has_ended(); });
      ::kill(job.mpirun, SIGUSR1);
      eventually([&] { return fs::exists(run.attempt(number).dump()) || has_ended(); }); // a rank has taken the signal
      held.release();
    }
    const auto end = end_of(job);
    INFO(end.out << end.err);
    REQUIRE(end.ok());
    if (dt::read_result(run.attempt(number))) return number;
    const auto preempted = dt::read_preemption(run.attempt(number));
    REQUIRE(preempted);
    CHECK(preempted->signal == "SIGUSR1");
    CHECK(preempted->checkpoint == "step-" + std::to_string(preempted->step) + ".safetensors");
    CHECK(trajectory(run.attempt(number)).rbegin()->first == preempted->step);
  }
  FAIL("it never ended");
  return 0;
}

// Steps with a rank held at each of these calls until a checkpoint is due; then all go on to the end.
dt::CommandResult end_of_held(RunningJob& job, const EngineRun& run, const HeldRanks& held, const std::vector<int>& calls)
{
  for (const int next : calls) {
    REQUIRE(let_a_checkpoint_be_due(held, run.attempt()));
    next > 0 ? held.hold(next) : held.release();
  }
  auto end = end_of(job);
  REQUIRE(end.ok());
  return end;
}

} // namespace

TEST_CASE("stopped by SIGUSR1 to mpirun at any step and taken up again, a run ends in the bits of one that never stopped")
{
  const int ranks = GENERATE(1, 2);
  std::mt19937 random(static_cast<unsigned>(ranks));
  auto spec = seconds_of_training(ranks);
  spec.train.steps = 800;
  const EngineRun whole(spec), pieces(spec);
  REQUIRE(whole.run(ranks).ok());
  const int attempts = run_in_pieces(pieces, ranks, random);
  CHECK(attempts > 1);
  const auto expected = trajectory(whole.attempt());
  REQUIRE(expected.size() == 800);
  std::map<std::int64_t, std::string> found;
  for (int number = 1; number <= attempts; ++number)
    for (const auto& [step, line] : trajectory(pieces.attempt(number))) {
      CHECK(found.count(step) == 0); // no step is done twice
      found[step] = line;
    }
  CHECK(found == expected);
  const auto result = *dt::read_result(pieces.attempt(attempts)), reference = *dt::read_result(whole.attempt());
  CHECK(result.weights_hash == reference.weights_hash);
  CHECK(result.accuracy == reference.accuracy);
  CHECK(result.best_accuracy == reference.best_accuracy);
  CHECK(result.resumed_step == dt::read_preemption(pieces.attempt(attempts - 1))->step);
}

TEST_CASE("killed with SIGKILL, a run goes on from its last checkpoint, and its steps since are done again in the same bits")
{
  auto spec = seconds_of_training(2);
  spec.train.checkpoint_every_s = 1;
  const EngineRun whole(spec), killed(spec);
  REQUIRE(whole.run(2).ok());
  const HeldRanks held;
  held.hold(20);
  RunningJob job(killed, 2, 1, held.environment());
  REQUIRE(job.root > 0);
  REQUIRE(let_a_checkpoint_be_due(held, killed.attempt()));
  held.hold(400);
  REQUIRE(eventually([&] { return held.count() > 0 && !list_checkpoints(killed.attempt().checkpoints()).empty(); }));
  ::kill(job.root, SIGKILL);
  CHECK_FALSE(end_of(job).ok());
  const auto end = killed.run(2, 2);
  REQUIRE(end.ok());
  const auto result = *dt::read_result(killed.attempt(2)), reference = *dt::read_result(whole.attempt());
  CHECK(result.resumed_step > 0);
  CHECK(result.weights_hash == reference.weights_hash);
  const auto expected = trajectory(whole.attempt());
  for (const auto& [step, line] : trajectory(killed.attempt(2))) REQUIRE(line == expected.at(step));
}

TEST_CASE("one signal to one rank stops all of them in order, and more signals do no harm")
{
  const EngineRun run(endless(2));
  RunningJob job(run, 2);
  REQUIRE(job.ranks.size() == 2);
  const auto other = other_than_root(job);
  ::kill(other, SIGTERM);
  ::kill(job.root, SIGTERM);
  ::kill(other, SIGTERM);
  const auto end = end_of(job);
  INFO(end.err);
  CHECK(end.exit_code == 0);
  const auto preempted = dt::read_preemption(run.attempt());
  REQUIRE(preempted);
  CHECK(preempted->signal == "SIGTERM");
  CHECK(preempted->steps == 1'000'000'000);
  CHECK_THAT(end.out, Contains("stopped by SIGTERM after step " + std::to_string(preempted->step)));
  CHECK(dt::names_in(run.attempt().checkpoints()) == std::vector<std::string>{preempted->checkpoint});
  for (const auto& path : {run.attempt().error(), run.attempt().result(), run.attempt().reserve()}) CHECK_FALSE(fs::exists(path));
}

TEST_CASE("no thread of a rank can be interrupted by the signals that it is sent")
{
  const EngineRun run(endless(1));
  RunningJob job(run, 1);
  REQUIRE(job.root > 0);
  const auto bits = [](const std::string& status, const std::string& field) {
    return std::stoull(status.substr(status.find(field) + field.size()), nullptr, 16);
  };
  constexpr auto stops = (1ULL << (SIGUSR1 - 1)) | (1ULL << (SIGTERM - 1)) | (1ULL << (SIGUSR2 - 1));
  int waiting = 0; // the watcher, for whom Linux shows them as not blocked while it waits for them
  for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(job.root) + "/task")) {
    const auto status = dt::read_file(thread.path() / "status");
    INFO(status);
    if ((bits(status, "SigBlk:") & stops) != stops) ++waiting;
    CHECK((bits(status, "SigCgt:") & stops) == 0);
  }
  CHECK(waiting <= 1);
  ::kill(job.mpirun, SIGUSR1);
  CHECK(end_of(job).ok());
}

TEST_CASE("a cancelled run that hangs is ended all the same")
{
  const EngineRun run(endless(2));
  RunningJob job(run, 2);
  REQUIRE(job.ranks.size() == 2);
  const auto other = other_than_root(job);
  ::kill(other, SIGSTOP);
  dt::write_file_atomic(run.attempt().cancel(), "somebody 1\n");
  const auto end = end_of(job);
  CHECK(end.exit_code != 0);
  CHECK_THAT(end.err, Contains("cancelled; no step"));
  CHECK_FALSE(fs::exists(run.attempt().error()));
}

TEST_CASE("the file cancel ends a run with words, without a checkpoint and without an error")
{
  const bool signalled = GENERATE(false, true);
  const EngineRun run(endless(2));
  RunningJob job(run, 2);
  REQUIRE(job.root > 0);
  dt::write_file_atomic(run.attempt().cancel(), "somebody 1\n");
  if (signalled) ::kill(job.mpirun, SIGUSR1);
  const auto end = end_of(job);
  CHECK(end.exit_code != 0);
  CHECK_THAT(end.err, Contains("cancelled after step "));
  for (const auto& path : {run.attempt().checkpoints(), run.attempt().preempted(), run.attempt().error(), run.attempt().result()})
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("fenced off by a later attempt, a run ends at once and writes nothing more")
{
  const EngineRun run(endless(2));
  RunningJob job(run, 2);
  REQUIRE(job.root > 0);
  REQUIRE(dt::fence(run.attempt(), 2));
  const auto end = end_of(job);
  CHECK(end.exit_code != 0);
  CHECK_THAT(end.err, Contains("fenced off by attempt 2"));
  CHECK(dt::test::eventually([&] { return std::none_of(job.ranks.begin(), job.ranks.end(), dt::test::is_running); }));
  CHECK(dt::fenced_by(run.attempt()) == 2);
  CHECK_FALSE(fs::exists(run.attempt().error()));
  CHECK_FALSE(fs::exists(run.attempt().checkpoints()));
}

TEST_CASE("a run that was fenced off on its way has no result, however near its end it was")
{
  auto spec = seconds_of_training(2);
  spec.train.steps = 100;
  const EngineRun run(spec);
  auto running = std::async(std::launch::async, [&] { return run.run(2); });
  REQUIRE(dt::test::eventually([&] { return fs::exists(run.attempt().begin()); }));
  REQUIRE(dt::fence(run.attempt(), 5));
  const auto end = running.get();
  CHECK(end.exit_code != 0);
  CHECK(dt::fenced_by(run.attempt()) == 5);
  CHECK_FALSE(dt::read_result(run.attempt()));
  CHECK_FALSE(fs::exists(run.attempt().error()));
}

TEST_CASE("an attempt that is fenced off before it starts is not begun")
{
  const EngineRun run(seconds_of_training(2));
  REQUIRE(dt::fence(run.attempt(), 2));
  CHECK(run.run(2).exit_code != 0);
  CHECK(dt::names_in(run.attempt().path()) == std::vector<std::string>{"result.json"});
}

TEST_CASE("checkpoints on the way: the last two are kept, each is told, and the run's throughput leaves them out")
{
  auto spec = seconds_of_training(1);
  spec.train.checkpoint_every_s = 1;
  const EngineRun run(spec);
  const HeldRanks held;
  held.hold(4);
  RunningJob job(run, 1, 1, held.environment());
  CHECK_THAT(end_of_held(job, run, held, {6, 8, 0}).out, Contains(": checkpoint step-"));
  const auto kept = list_checkpoints(run.attempt().checkpoints());
  REQUIRE(kept.size() == 2);
  for (const auto& path : kept) CHECK_NOTHROW(dt::train::CheckpointReader(path));
  const auto result = *dt::read_result(run.attempt());
  CHECK(result.measured_s < result.wall_s);
}

TEST_CASE("a disk without room for a checkpoint costs the checkpoint, not the run")
{
  auto spec = seconds_of_training(2);
  spec.train.steps = 400;
  spec.train.checkpoint_every_s = 1;
  const EngineRun run(spec);
  dt::make_folders(run.attempt().checkpoints());
  const dt::test::TinyDisk disk(run.attempt().checkpoints(), 64 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: mounting a small file system needs root");
    return;
  }
  const HeldRanks held;
  held.hold(4);
  RunningJob job(run, 2, 1, held.environment());
  const auto end = end_of_held(job, run, held, {100, 0});
  CHECK_THAT(end.err, Contains(": no checkpoint could be written: write " + run.attempt().checkpoints().string()) &&
                          Contains("There is none of this attempt yet."));
  CHECK(end.err.find("no checkpoint could") == end.err.rfind("no checkpoint could")); // it is told once
  CHECK(dt::read_result(run.attempt()));
}

TEST_CASE("told to stop on a disk without room, a run stops all the same and names no checkpoint")
{
  const EngineRun run(endless(2));
  dt::make_folders(run.attempt().checkpoints());
  const dt::test::TinyDisk disk(run.attempt().checkpoints(), 64 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: mounting a small file system needs root");
    return;
  }
  RunningJob job(run, 2);
  REQUIRE(job.mpirun > 0);
  ::kill(job.mpirun, SIGUSR1);
  const auto end = end_of(job);
  CHECK(end.exit_code == 0);
  REQUIRE(dt::read_preemption(run.attempt()));
  CHECK(dt::read_preemption(run.attempt())->checkpoint.empty());
}

TEST_CASE("an altered checkpoint is told and passed over, and without another the next attempt begins at the beginning")
{
  const EngineRun run(seconds_of_training(1));
  const HeldRanks held;
  held.hold(5);
  RunningJob job(run, 1, 1, held.environment());
  REQUIRE(job.mpirun > 0);
  ::kill(job.mpirun, SIGUSR1);
  REQUIRE(eventually([&] { return fs::exists(run.attempt().dump()); })); // the rank has taken the signal
  held.release();
  REQUIRE(end_of(job).ok());
  const auto path = list_checkpoints(run.attempt().checkpoints()).at(0);
  auto bytes = dt::read_file(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  dt::write_file_atomic(path, bytes);
  const auto end = run.run(1, 2);
  REQUIRE(end.ok());
  CHECK_THAT(end.out, Contains("checkpoint not used: read " + path.string()));
  CHECK(dt::read_result(run.attempt(2))->resumed_step == 0);
}

TEST_CASE("a launch that died before its first step is tried again in the same attempt")
{
  auto spec = seconds_of_training(1);
  spec.train.steps = 10;
  const EngineRun run(spec);
  dt::write_file_atomic(run.attempt().events(), ""); // all that such a launch leaves, when begin.json is moved away
  CHECK(run.run(1).ok());
  CHECK(dt::read_result(run.attempt()));
}
