// dtengine under mpirun, asked what its ranks are doing: by signals, by a file, and by itself when one of them has stopped.
#include "core/record/rank_state.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/running_job.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <csignal>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::end_of;
using dt::test::EngineRun;
using dt::test::eventually;
using dt::test::RunningJob;

namespace {

dt::RunSpec endless(std::int64_t ranks)
{
  auto spec = dt::test::small_lenet(ranks, 240);
  spec.train.global_batch = 24;
  return dt::test::endless(spec);
}

// By its number: mpirun tells each process its own.
pid_t process_of(const RunningJob& job, int rank)
{
  for (const auto pid : job.ranks) {
    const auto environment = dt::read_file("/proc/" + std::to_string(pid) + "/environ");
    if (environment.find("OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0') != std::string::npos) return pid;
  }
  return 0;
}

bool all_answered(const dt::AttemptFolder& attempt, int ranks)
{
  for (int rank = 0; rank < ranks; ++rank)
    if (!dt::read_rank_state(attempt, rank)) return false;
  return true;
}

} // namespace

TEST_CASE("a rank that stands still is named, with what the others do, and the training's going on is told")
{
  auto spec = endless(3);
  spec.train.stall_after_s = 1;
  const EngineRun run(spec);
  RunningJob job(run, 3);
  REQUIRE(job.ranks.size() == 3);
  const auto victim = process_of(job, 1);
  REQUIRE(victim > 0);
  const auto alone = "rank 1 on " + dt::host_name() + " has not answered";
  const auto is_resolved = [&] {
    const auto stall = dt::read_stall(run.attempt());
    return !stall || !std::isnan(stall->resolved_unix_s);
  };
  dt::StallRecord stall;
  // On a busy machine another rank may be kept from its core for so long that it does not answer either: then once more.
  for (int tries = 0; tries < 10 && dt::words_of(stall.missing) != alone; ++tries) {
    REQUIRE(eventually(is_resolved));
    ::kill(victim, SIGSTOP);
    const bool told = eventually([&] { return !is_resolved(); });
    ::kill(victim, SIGCONT);
    REQUIRE(told);
    stall = *dt::read_stall(run.attempt());
  }
  CHECK(dt::words_of(stall.missing) == alone);
  REQUIRE(stall.ranks.size() == 2);
  for (const auto& rank : stall.ranks) {
    CHECK(rank.waiting);
    CHECK_THAT(rank.what, Catch::StartsWith("waits "));
    CHECK(rank.unix_s >= rank.since_unix_s);
  }
  CHECK(eventually([&] { return !std::isnan(dt::read_stall(run.attempt())->resolved_unix_s); }));
  ::kill(job.mpirun, SIGUSR1);
  const auto end = end_of(job);
  CHECK(end.ok());
  CHECK_THAT(end.err, Contains(alone) && Contains("the training goes on, after "));
}

TEST_CASE("SIGUSR2 to one rank makes every rank tell what it is doing, and the training goes on")
{
  const EngineRun run(endless(3));
  RunningJob job(run, 3);
  REQUIRE(job.ranks.size() == 3);
  ::kill(process_of(job, 2), SIGUSR2);
  REQUIRE(eventually([&] { return all_answered(run.attempt(), 3); }));
  const auto step = dt::read_heartbeat(run.attempt())->step;
  for (int rank = 0; rank < 3; ++rank) {
    const auto state = *dt::read_rank_state(run.attempt(), rank);
    CHECK(state.rank == rank);
    CHECK(state.host == dt::host_name());
    CHECK(state.step > 0);
    CHECK_FALSE(state.what.empty());
  }
  CHECK(eventually([&] { return dt::read_heartbeat(run.attempt())->step > step; }));
  CHECK_FALSE(fs::exists(run.attempt().stall()));
  ::kill(job.mpirun, SIGUSR1);
  CHECK(end_of(job).ok());
}

TEST_CASE("a rank that waits for one that stands still tells on SIGUSR1 what it waits for, and stops when the other goes on")
{
  const EngineRun run(endless(3));
  RunningJob job(run, 3);
  REQUIRE(job.ranks.size() == 3);
  const auto victim = process_of(job, 1);
  ::kill(victim, SIGSTOP);
  ::kill(process_of(job, 2), SIGUSR1);
  const bool told = eventually([&] { return dt::read_rank_state(run.attempt(), 0) && dt::read_rank_state(run.attempt(), 2); });
  ::kill(victim, SIGCONT);
  CHECK(told);
  CHECK(end_of(job).ok());
  CHECK(dt::read_preemption(run.attempt()));
}

TEST_CASE("a new file `dump` asks all ranks, again and again")
{
  const EngineRun run(endless(2));
  RunningJob job(run, 2);
  REQUIRE(job.ranks.size() == 2);
  for (int turn = 0; turn < 2; ++turn) {
    fs::remove_all(run.attempt().states());
    dt::write_file_atomic(run.attempt().dump(), "somebody\n");
    REQUIRE(eventually([&] { return all_answered(run.attempt(), 2); }));
  }
  ::kill(job.mpirun, SIGTERM);
  CHECK(end_of(job).exit_code != 0);
}
