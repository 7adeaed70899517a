// Asynchronous strategies in dtengine under mpirun: ranks at different steps that stop after the same one, and go on from there.
#include "tests/support/engine_run.hpp"
#include "tests/support/running_job.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>

using Catch::Contains;
using dt::test::end_of;
using dt::test::endless;
using dt::test::EngineRun;
using dt::test::other_than_root;
using dt::test::RunningJob;

namespace {

constexpr int ranks = 3;

// Two workers and a server, or three workers on one window.
dt::RunSpec asynchronous(const std::string& strategy, std::int64_t servers)
{
  auto spec = dt::test::small_lenet(ranks, 2400);
  spec.train.batch_per_rank = 8;
  spec.train.steps = 400;
  spec.optimizer.name = strategy == "async-msgd" || strategy == "async-measgd" ? "momentum" : "sgd";
  spec.optimizer.learning_rate = 0.005;
  spec.sync.strategy = strategy;
  spec.sync.servers = servers;
  if (dt::is_elastic(strategy)) spec.sync.alpha = 0.2;
  return spec;
}

} // namespace

TEST_CASE("every asynchronous strategy trains to its end in dtengine, its staleness told")
{
  const auto [strategy, servers] = GENERATE(table<std::string, std::int64_t>({{"async-sgd", 1},
                                                                              {"async-msgd", 2},
                                                                              {"hogwild-sgd", 1},
                                                                              {"hogwild-sgd", 0},
                                                                              {"easgd", 1},
                                                                              {"async-easgd", 1},
                                                                              {"async-measgd", 2},
                                                                              {"hogwild-easgd", 1},
                                                                              {"hogwild-easgd", 0}}));
  CAPTURE(strategy, servers);
  const EngineRun run(asynchronous(strategy, servers));
  const auto end = run.run(ranks);
  INFO(end.out << end.err);
  REQUIRE(end.ok());
  const auto result = dt::read_result(run.attempt());
  REQUIRE(result);
  CHECK(result->steps == 400);
  CHECK(result->accuracy > 0);
  const auto workers = ranks - servers;
  CHECK(result->staleness.updates == 400 * workers * std::max<std::int64_t>(servers, 1));
  CHECK(result->staleness.max >= static_cast<double>(workers - 1)); // in turn exactly, else someone comes late
  CHECK(result->staleness.max < 400.0 * static_cast<double>(workers));
}

TEST_CASE("told to stop, ranks at different steps stop after the same one, and the next attempt goes on from there")
{
  const auto [strategy, servers] =
      GENERATE(table<std::string, std::int64_t>({{"async-msgd", 1}, {"easgd", 1}, {"async-measgd", 2}, {"hogwild-easgd", 0}}));
  CAPTURE(strategy, servers);
  EngineRun run(endless(asynchronous(strategy, servers)));
  RunningJob job(run, ranks);
  REQUIRE(job.ranks.size() == ranks);
  ::kill(other_than_root(job), SIGTERM);
  const auto end = end_of(job);
  INFO(end.out << end.err);
  REQUIRE(end.exit_code == 0);
  const auto preempted = dt::read_preemption(run.attempt());
  REQUIRE(preempted);
  CHECK(preempted->signal == "SIGTERM");
  CHECK(preempted->checkpoint == "step-" + std::to_string(preempted->step) + ".safetensors");

  RunningJob again(run, ranks, 2);
  REQUIRE(again.root > 0);
  ::kill(again.root, SIGTERM);
  const auto second = end_of(again);
  INFO(second.out << second.err);
  REQUIRE(second.ok());
  CHECK_THAT(second.out, Contains("after step " + std::to_string(preempted->step)));
  CHECK(dt::read_preemption(run.attempt(2))->step > preempted->step);
}

TEST_CASE("an asynchronous run is cancelled by the file cancel")
{
  const EngineRun run(endless(asynchronous("async-sgd", 1)));
  RunningJob job(run, ranks);
  REQUIRE(job.root > 0);
  dt::write_file_atomic(run.attempt().cancel(), "somebody 1\n");
  ::kill(job.mpirun, SIGUSR1);
  const auto end = end_of(job);
  CHECK(end.exit_code != 0);
  CHECK_THAT(end.err, Contains("cancelled after step "));
  CHECK_FALSE(std::filesystem::exists(run.attempt().checkpoints()));
}
