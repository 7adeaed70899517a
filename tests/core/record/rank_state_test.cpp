#include "core/record/rank_state.hpp"
#include "tests/core/record/attempt.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;

namespace {

struct WithStates : test::Attempt {
  WithStates() { make_folders(attempt.states()); }
};

constexpr auto waits = "waits for a gradient";

} // namespace

TEST_CASE("a rank's state is read as it was written, and a torn one not at all")
{
  const WithStates states;
  const auto& attempt = states.attempt;
  const auto text = to_json(RankState{
      .rank = 2, .host = "node7", .step = 41, .what = waits, .peer = 1, .waiting = true, .since_unix_s = 5.5, .unix_s = 65.5});
  write_file_atomic(state_path(attempt, 2), text);
  const auto read = read_rank_state(attempt, 2);
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  CHECK(read->what == waits);
  CHECK(read->peer == 1);
  CHECK(read->waiting);
  CHECK_FALSE(read_rank_state(attempt, 1));
  write_file_atomic(state_path(attempt, 2), text.substr(0, text.size() / 2));
  CHECK_FALSE(read_rank_state(attempt, 2));
}

TEST_CASE("a stall is read as it was written, open and resolved, and those who have not arrived are named with host and reason")
{
  const WithStates states;
  const auto& attempt = states.attempt;
  CHECK_FALSE(read_stall(attempt));
  StallRecord stall{.unix_s = 100, .stalled_s = 60, .step = 7, .missing = {{1, "node7", "has not answered"}}, .ranks = {}};
  stall.ranks.push_back(
      {.rank = 0, .host = "node6", .step = 7, .what = waits, .peer = 1, .waiting = true, .since_unix_s = 40, .unix_s = 100});
  write_file_atomic(attempt.stall(), to_json(stall));
  auto read = read_stall(attempt);
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(stall));
  CHECK(std::isnan(read->resolved_unix_s));
  CHECK(read->missing.at(0).host == "node7");
  CHECK(read->ranks.at(0).peer == 1);
  stall.resolved_unix_s = 130;
  write_file_atomic(attempt.stall(), to_json(stall));
  CHECK(read_stall(attempt)->resolved_unix_s == 130);
  CHECK(words_of({{1, "node7", "has not answered"}, {2, "node8", "is at step 6 of 7"}}) ==
        "rank 1 on node7 has not answered; rank 2 on node8 is at step 6 of 7");
}

TEST_CASE("a state and a stall whose schema is of any other type are not read")
{
  const WithStates states;
  const auto& attempt = states.attempt;
  for (const auto* text :
       {R"({"schema":[1]})", R"({"schema":{"a":1}})", R"({"schema":"1"})", R"({"schema":null})", R"({})", "[1]", "1"}) {
    write_file_atomic(attempt.stall(), text);
    write_file_atomic(state_path(attempt, 0), text);
    CHECK_FALSE(read_stall(attempt));
    CHECK_FALSE(read_rank_state(attempt, 0));
  }
}
