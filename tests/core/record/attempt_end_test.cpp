// How an attempt ends: with its result, or fenced off; and the records of launches, preemption and probe.
#include "tests/core/record/attempt.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cmath>
#include <thread>

using namespace dt;
using test::Attempt;

namespace {

RunResult some_result(std::int64_t steps)
{
  RunResult result;
  result.steps = steps;
  result.resumed_step = 7;
  return result;
}

} // namespace

TEST_CASE("a committed result is read back with the step it was resumed from, and cannot be fenced off nor replaced by another")
{
  Attempt a;
  REQUIRE(commit_result(a.attempt, some_result(12)));
  CHECK_FALSE(fence(a.attempt, 2));
  CHECK_FALSE(commit_result(a.attempt, some_result(13)));
  const auto result = read_result(a.attempt);
  REQUIRE(result);
  CHECK(result->steps == 12);
  CHECK(result->resumed_step == 7);
  CHECK_FALSE(fenced_by(a.attempt));
}

TEST_CASE("a fenced attempt can have no result, and names its successor")
{
  Attempt a;
  REQUIRE(fence(a.attempt, 2));
  CHECK(fenced_by(a.attempt) == 2);
  CHECK_FALSE(commit_result(a.attempt, some_result(12)));
  CHECK_FALSE(read_result(a.attempt));
  CHECK_FALSE(fence(a.attempt, 3));
  CHECK(fenced_by(a.attempt) == 2);
}

TEST_CASE("of a result and a fence that come at once exactly one is there")
{
  for (int round = 0; round < 50; ++round) {
    Attempt a;
    std::atomic<int> ready = 0, won = 0;
    const auto race = [&](auto act) {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      if (act()) ++won;
    };
    std::thread old_copy(race, [&] { return commit_result(a.attempt, some_result(12)); });
    std::thread successor(race, [&] { return fence(a.attempt, 2); });
    old_copy.join();
    successor.join();
    CHECK(won == 1);
    CHECK(read_result(a.attempt).has_value() != fenced_by(a.attempt).has_value());
  }
}

TEST_CASE("a preemption, a probe and how often a submission was started again are read back, and what was not measured stays so")
{
  Attempt a;
  CHECK_FALSE(read_preemption(a.attempt));
  write_file_atomic(a.attempt.preempted(), to_json(Preemption{12.5, 118, 400, "step-118.safetensors", "SIGUSR1"}));
  const auto seen = read_preemption(a.attempt);
  REQUIRE(seen);
  CHECK(seen->unix_s == 12.5);
  CHECK(seen->step == 118);
  CHECK(seen->steps == 400);
  CHECK(seen->checkpoint == "step-118.safetensors");
  CHECK(seen->signal == "SIGUSR1");
  ProbeRecord probe;
  probe.allreduce_s = 0.002;
  probe.allreduce_bytes = 1 << 20;
  probe.ranks = {{0, "node0", 2400, 55.5}, {1, "node1", not_measured, 40}};
  write_file_atomic(a.attempt.probe(), to_json(probe));
  const auto found = read_probe(a.attempt);
  REQUIRE(found);
  CHECK(found->allreduce_s == 0.002);
  REQUIRE(found->ranks.size() == 2);
  CHECK(found->ranks[0].gemm_gflops == 55.5);
  CHECK(std::isnan(found->ranks[1].clock_mhz));
  CHECK(found->ranks[1].host == "node1");
  write_file_atomic(a.attempt.submission(), to_json(Submission{2, "t", "slurm", "s", 1, "12", 3}));
  CHECK(read_submission(a.attempt)->restart == 3);
}

TEST_CASE("launches are counted line by line, and a torn last line is left out")
{
  Attempt a;
  CHECK(read_launches(a.attempt).empty());
  write_file_atomic(a.attempt.launches(), "launch 1 100.5 134\nnonsense\nlaunch 2 101 0\nlaunch 3 10");
  const auto launches = read_launches(a.attempt);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].exit_code == 134);
  CHECK(launches[1].number == 2);
  CHECK(launches[1].unix_s == 101);
}
