#include "core/record/attempt/trace_record.hpp"

#include <catch2/catch.hpp>

using namespace dt;

namespace {

TraceRecord sample()
{
  TraceRecord record{.rank = 3,
                     .role = "worker",
                     .host = "node 7",
                     .begin = {100.5, 0.25, 1e-6},
                     .end = {110.5, 0.35, 2e-6},
                     .forgotten = 4,
                     .names = {"forward", "training", "send"},
                     .spans = {}};
  record.spans.push_back({.name = 0, .track = 1, .begin_ns = 1000, .length_ns = 250, .step = 1});
  record.spans.push_back(
      {.name = 2, .track = 1, .begin_ns = -5, .length_ns = 0, .step = 1, .bytes = 4096, .peer = 2, .tag = 1001});
  return record;
}

} // namespace

TEST_CASE("a timeline is read as it was written")
{
  const auto text = to_text(sample());
  const auto read = parse_trace(text);
  REQUIRE(read);
  CHECK(to_text(*read) == text);
  CHECK(read->rank == 3);
  CHECK(read->role == "worker");
  CHECK(read->host == "node 7");
  CHECK(read->forgotten == 4);
  CHECK(read->end.ahead_s == 0.35);
  REQUIRE(read->spans.size() == 2);
  CHECK(read->names[2] == "send");
  CHECK(read->spans[0].bytes == -1);
  CHECK(read->spans[1].peer == 2);
  CHECK(read->spans[1].tag == 1001);
}

TEST_CASE("a torn or foreign timeline is not read")
{
  const auto text = to_text(sample());
  CHECK_FALSE(parse_trace(""));
  CHECK_FALSE(parse_trace(text.substr(0, text.size() - 1)));
  CHECK_FALSE(parse_trace("dtctl trace 2" + text.substr(13)));
  CHECK_FALSE(parse_trace(text + "9 1 0 0 0 0 0 0\n"));  // a name that was never told
  CHECK_FALSE(parse_trace(text + "0 1 0 -1 0 0 0 0\n")); // it ends before it begins
  CHECK_FALSE(parse_trace(text + "0 1 0 1 0 0 0 0 0\n"));
}

TEST_CASE("times are brought onto rank 0's clock, a drift spread evenly")
{
  const auto record = sample(); // 0.25 s ahead at 100.5, 0.35 s ahead ten seconds later
  CHECK(record.aligned_s(0) == Approx(100.25));
  CHECK(record.aligned_s(10'000'000'000) == Approx(110.15));
  CHECK(record.aligned_s(5'000'000'000) == Approx(105.2));
}
