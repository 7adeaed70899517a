// Who has not arrived, and when that is told.
#include "core/files/file.hpp"
#include "engine/train/record/watcher.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::train;

namespace {

const std::vector<std::string> hosts{"node0", "node1", "node2"};

RankState state(int rank, std::int64_t step, bool waiting)
{
  return {.rank = rank,
          .host = hosts[static_cast<std::size_t>(rank)],
          .step = step,
          .what = waiting ? "waits for a gradient" : "computes forward and backward",
          .peer = -1,
          .waiting = waiting,
          .since_unix_s = 1,
          .unix_s = 2};
}

std::string missing(const std::vector<std::optional<RankState>>& states) { return words_of(missing_ranks(states, hosts)); }

// An inspector on a clock and in a folder of its own; stall_after 60, answers awaited for 5.
struct Inspection {
  Inspection() { make_folders(attempt.path()); }
  void answer(int rank, bool waiting)
  {
    make_folders(attempt.states());
    write_file_atomic(state_path(attempt, rank), to_json(state(rank, 7, waiting)));
  }
  dt::test::TemporaryFolder folder;
  AttemptFolder attempt{folder.path(), 1};
  int asked = 0;
  std::vector<std::string> said;
  StallInspector inspector{{.attempt = attempt,
                            .hosts = hosts,
                            .after_s = 60,
                            .answer_s = 5,
                            .ask = [this] { ++asked; },
                            .say = [this](const std::string& words) { said.push_back(words); }}};
};

} // namespace

TEST_CASE("who does not answer or does not wait has not arrived, whatever step the waiting ones are at")
{
  CHECK(missing({state(0, 7, true), std::nullopt, state(2, 6, true)}) == "rank 1 on node1 has not answered");
  CHECK(missing({state(0, 7, true), state(1, 7, false), state(2, 6, true)}) == "rank 1 on node1 computes forward and backward");
  CHECK(missing({state(0, 7, false), std::nullopt, state(2, 7, true)}) ==
        "rank 0 on node0 computes forward and backward; rank 1 on node1 has not answered");
}

TEST_CASE("when all wait, those behind have not arrived, and nobody when all are at one step")
{
  CHECK(missing({state(0, 7, true), state(1, 6, true), state(2, 7, true)}) == "rank 1 on node1 is at step 6 of 7");
  CHECK(missing({state(0, 7, true), state(1, 7, true), state(2, 7, true)}).empty());
}

TEST_CASE("a training that goes on is never asked")
{
  Inspection run;
  for (int second = 0; second < 500; second += 50) run.inspector.look(second, second, second);
  CHECK(run.asked == 0);
  CHECK(run.said.empty());
}

TEST_CASE("a stall is told once, with who has not arrived, and so is its end")
{
  Inspection run;
  run.answer(1, false); // long ago
  run.inspector.look(1, 7, 100);
  run.inspector.look(1, 7, 159);
  CHECK(run.asked == 0);
  run.inspector.look(1, 7, 160);
  CHECK(run.asked == 1);
  run.answer(0, true);
  run.answer(2, true);
  run.inspector.look(1, 7, 164);
  CHECK(run.said.empty());
  run.inspector.look(1, 7, 165);
  REQUIRE(run.said.size() == 1);
  CHECK(run.said[0] == "no progress for 1m5s, at step 7: rank 1 on node1 has not answered. What all ranks were doing stands in " +
                           run.attempt.stall().string() + ".");
  const auto stall = read_stall(run.attempt);
  REQUIRE(stall);
  CHECK(stall->ranks.size() == 2);
  CHECK(stall->step == 7);
  CHECK(stall->stalled_s == 65);
  CHECK(std::isnan(stall->resolved_unix_s));

  for (int second = 166; second < 400; ++second) run.inspector.look(1, 7, second);
  CHECK(run.asked == 1);
  CHECK(run.said.size() == 1);
  run.inspector.look(2, 8, 400);
  REQUIRE(run.said.size() == 2);
  CHECK(run.said[1] == "the training goes on, after 5m without progress");
  CHECK(read_stall(run.attempt)->resolved_unix_s > 0);

  run.inspector.look(2, 8, 460);
  CHECK(run.asked == 2); // the next one is told again
}

TEST_CASE("when all have answered nobody is waited for, and progress in between takes the question back")
{
  Inspection run;
  run.inspector.look(1, 7, 100);
  run.inspector.look(1, 7, 160);
  for (const int rank : {0, 1, 2}) run.answer(rank, true);
  SECTION("all have answered")
  {
    run.inspector.look(1, 7, 161);
    REQUIRE(run.said.size() == 1);
    CHECK_THAT(run.said[0], Catch::Contains("at step 7: all ranks wait for each other."));
  }
  SECTION("progress")
  {
    run.inspector.look(2, 8, 161);
    run.inspector.look(2, 8, 162);
    CHECK(run.said.empty());
    CHECK_FALSE(read_stall(run.attempt));
  }
}
