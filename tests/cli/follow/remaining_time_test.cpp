#include "cli/follow/remaining_time.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace dt::cli;

namespace {

using Stage = TimedRun::Stage;
using Runs = std::vector<TimedRun>;

TimedRun finished(double wall_s, std::int64_t ranks = 1, const char* label = "")
{
  return {.stage = Stage::finished, .label = label, .ranks = ranks, .wall_s = wall_s};
}
TimedRun waiting(std::int64_t ranks = 1, const char* label = "") { return {.label = label, .ranks = ranks, .places = ranks}; }
TimedRun running(double done, std::int64_t ranks = 1)
{
  return {.stage = Stage::running, .ranks = ranks, .done = done, .places = ranks};
}

double remaining_s(const Runs& runs, std::int64_t places = 1) { return study_remaining_s(runs, {.places = places}); }

} // namespace

TEST_CASE("without a finished run there is no estimate")
{
  CHECK(std::isnan(remaining_s({})));
  CHECK(std::isnan(remaining_s({waiting(), running(0.5)})));
  CHECK(std::isnan(remaining_s({finished(NAN), waiting()})));
  CHECK(remaining_s({finished(10), finished(20)}) == 0); // and none is needed
}

TEST_CASE("runs of a point are expected to take the median of its finished runs")
{
  CHECK(remaining_s({finished(10), finished(12), finished(500), waiting()}) == 12);
  CHECK(remaining_s({finished(10), finished(12), finished(500), waiting(), waiting()}) == 24);
}

TEST_CASE("a size that has not finished is expected to take as long as the nearest size of its label")
{
  const Runs measured{finished(80, 1, "easgd"), finished(20, 8, "easgd"), finished(5, 16, "sync-sgd")};
  const auto with = [&](TimedRun run) {
    auto runs = measured;
    runs.push_back(run);
    return remaining_s(runs, 64);
  };
  CHECK(with(waiting(16, "easgd")) == 20);
  CHECK(with(waiting(2, "easgd")) == 80);
  CHECK(with(waiting(1, "sync-sgd")) == 5);
  CHECK(with(waiting(1, "new label")) == 20); // the median of all
  const TimedRun one_node{.stage = Stage::finished, .nodes = 1, .ranks = 4, .wall_s = 40},
      four_nodes{.stage = Stage::finished, .nodes = 4, .ranks = 4, .wall_s = 60}, wanted{.nodes = 4, .ranks = 4};
  CHECK(remaining_s({one_node, four_nodes, wanted}) == 60);
}

TEST_CASE("of a running run the share that is done is subtracted, or the time that has passed if it has not said how far it is")
{
  CHECK(remaining_s({finished(40), running(0.75)}) == 10);
  CHECK(remaining_s({finished(40), running(0)}) == 40);
  CHECK(remaining_s({finished(40), running(1)}) == 0);
  TimedRun run{.stage = Stage::running, .elapsed_s = 15};
  CHECK(remaining_s({finished(40), run}) == 25);
  run.elapsed_s = 100;
  CHECK(remaining_s({finished(40), run}) == 0);
  run.elapsed_s = -5; // the clocks of two hosts differ
  CHECK(remaining_s({finished(40), run}) == 40);
}

TEST_CASE("runs that fit together run at the same time, but no more than --max-jobs")
{
  CHECK(remaining_s({finished(10, 8), waiting(8), waiting(8)}, 2) == 20); // each takes all
  CHECK(study_remaining_s(Runs{finished(10), waiting(), waiting(), waiting()}, {.places = 64, .most_runs = 1}) == 30);
  CHECK(study_remaining_s(Runs{finished(10), waiting(), waiting(), waiting()}, {.places = 64, .most_runs = 2}) == 20);
  CHECK(remaining_s({finished(10), waiting(), waiting(), waiting(), waiting()}, 1) == 40);
  CHECK(remaining_s({finished(10), waiting(), waiting(), waiting(), waiting()}, 2) == 20);
  CHECK(remaining_s({finished(10), waiting(), waiting(), waiting()}, 2) == 20);
  CHECK(remaining_s({finished(10), waiting(), waiting(), waiting(), waiting()}, 4) == 10);
}

TEST_CASE("a run waits until enough cores are free, and none overtakes it")
{
  // Two cores: 1 rank runs for 5 s more, then 2 ranks for 30 s, then 1 rank for 10 s.
  CHECK(remaining_s({finished(10, 1), finished(30, 2), running(0.5, 1), waiting(2), waiting(1)}, 2) == 45);
}

TEST_CASE("a thousand equal runs take a thousand times as long one after another, and a hundred times ten at a time")
{
  Runs runs{finished(3)};
  for (int i = 0; i < 1000; ++i) runs.push_back(waiting());
  CHECK(remaining_s(runs, 1) == 3000);
  CHECK(remaining_s(runs, 10) == 300);
}
