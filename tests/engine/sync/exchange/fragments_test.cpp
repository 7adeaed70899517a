#include "engine/sync/exchange/fragments.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::sync;

namespace {

SyncSpec sync_of(std::int64_t period, std::int64_t fragments, std::int64_t delay = 0)
{
  return {.strategy = "diloco", .period = period, .outer = {.fragments = fragments, .delay = delay}};
}

// Tensors of these sizes, one after another.
std::vector<Range> tensors_of(const std::vector<std::size_t>& sizes)
{
  std::vector<Range> tensors;
  std::size_t begin = 0;
  for (const auto size : sizes) {
    tensors.push_back({begin, begin + size});
    begin += size;
  }
  return tensors;
}

} // namespace

TEST_CASE("fragments are consecutive whole tensors of about equal size, each with at least one tensor, and cover the buffer")
{
  const auto tensors = tensors_of({100, 10, 90, 100, 5, 95});
  const auto fragments = plan_fragments(tensors, 400, sync_of(8, 4));
  REQUIRE(fragments.size() == 4);
  CHECK(fragments[0].range == Range{0, 100});
  CHECK(fragments[1].range == Range{100, 200});
  CHECK(fragments[2].range == Range{200, 300});
  CHECK(fragments[3].range == Range{300, 400});

  // Padding behind the last tensor, and one tensor that is larger than all others together.
  const auto uneven = plan_fragments(tensors_of({900, 16, 16}), 944, sync_of(9, 3));
  CHECK(uneven[0].range == Range{0, 900});
  CHECK(uneven[1].range == Range{900, 916});
  CHECK(uneven[2].range == Range{916, 944});
}

TEST_CASE("periods of fragments end one after another, evenly spread, and the first fragment's at multiples of the period")
{
  const auto sync = sync_of(8, 3);
  const auto fragments = plan_fragments(tensors_of({10, 10, 10}), 30, sync);
  std::string ends;
  for (std::int64_t step = 1; step <= 17; ++step)
    for (std::size_t f = 0; f < fragments.size(); ++f)
      if (const auto period = period_ending_at(step, fragments[f], sync); period > 0)
        ends += std::to_string(step) + ":" + std::to_string(f) + "." + std::to_string(period) + " ";
  CHECK(ends == "2:1.1 5:2.1 8:0.1 10:1.2 13:2.2 16:0.2 ");
  CHECK(period_ending_at(0, fragments[0], sync) == 0);
  CHECK(period_ending_at(-8, fragments[0], sync) == 0);
}

TEST_CASE("the pieces of a sum are made in the steps behind the end of a period, and none before the first end")
{
  const auto sync = sync_of(5, 2, 3);
  std::string first, second;
  const auto sign = [](std::int64_t piece) { return piece < 0 ? "-" : std::to_string(piece); };
  for (std::int64_t step = 1; step <= 11; ++step) {
    first += sign(piece_at(step, {{0, 8}, 0}, sync));
    second += sign(piece_at(step, {{0, 8}, 2}, sync));
  }
  CHECK(first == "-----012--0");
  CHECK(second == "--012--012-");
}

TEST_CASE("pieces cover a range without gaps, in whole lines but for the last")
{
  for (const std::size_t size : {0U, 7U, 16U, 100U, 1000U})
    for (const std::int64_t pieces : {1, 3, 7}) {
      const Range range{32, 32 + size};
      auto end = range.begin;
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        const auto part = piece_of(range, piece, pieces);
        CHECK(part.begin == end);
        CHECK(part.begin % 16 == 0);
        end = part.end;
      }
      CHECK(end == range.end);
    }
}

TEST_CASE("a range is one message, or one for each tensor of which it holds a part, and none if it is empty")
{
  const std::vector<Range> tensors{{0, 10}, {16, 40}, {48, 50}};
  auto sync = sync_of(8, 1);
  CHECK(messages_of({5, 64}, tensors, sync) == std::vector<Range>{{5, 64}});
  CHECK(messages_of({5, 5}, tensors, sync).empty());
  sync.pack = false;
  CHECK(messages_of({5, 49}, tensors, sync) == std::vector<Range>{{5, 10}, {16, 40}, {48, 49}});
  CHECK(messages_of({5, 5}, tensors, sync).empty());
}
