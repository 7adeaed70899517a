#include "engine/data/source.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace dt::data {
namespace {

std::vector<std::int64_t> positions(SampleOrder order, std::int64_t begin, std::size_t count)
{
  std::vector<std::int64_t> indices(count);
  order.fill(begin, indices);
  return indices;
}

std::vector<std::int64_t> counting(std::int64_t n)
{
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

} // namespace

TEST_CASE("shards are disjoint, in order and cover the set, and differ by at most one")
{
  for (int ranks = 1; ranks <= 17; ++ranks)
    for (std::int64_t n : {0, 1, 2, 15, 16, 17, 18, 31, 97, 1000, 60000, 1000003}) {
      CAPTURE(ranks, n);
      std::int64_t end = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto range = shard(n, rank, ranks);
        REQUIRE(range.begin == end);
        REQUIRE(range.end == (rank + 1) * n / ranks);
        REQUIRE(range.end - range.begin >= n / ranks);
        REQUIRE(range.end - range.begin <= n / ranks + 1);
        end = range.end;
      }
      REQUIRE(end == n);
    }
}

TEST_CASE("shards of a set near the largest integer do not overflow")
{
  constexpr std::int64_t n = INT64_MAX;
  CHECK(shard(n, 0, 1024).begin == 0);
  CHECK(shard(n, 1023, 1024).end == n);
  CHECK(shard(n, 511, 1024).end == n / 2);
}

TEST_CASE("every epoch of a shuffled order is a permutation of the set")
{
  for (std::int64_t n : {1, 2, 3, 10, 101, 4096}) {
    SampleOrder order(n, true, 7);
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
      CAPTURE(n, epoch);
      std::vector<std::int64_t> indices(static_cast<std::size_t>(n));
      order.fill(epoch * n, indices);
      std::sort(indices.begin(), indices.end());
      REQUIRE(indices == counting(n));
    }
  }
}

TEST_CASE("an order without shuffling counts through the set again and again")
{
  CHECK(positions(SampleOrder(5, false, 1), 3, 9) == std::vector<std::int64_t>{3, 4, 0, 1, 2, 3, 4, 0, 1});
}

TEST_CASE("orders differ from epoch to epoch and from seed to seed, and are equal for equal seeds")
{
  const auto first = positions(SampleOrder(100, true, 1), 0, 100);
  CHECK(first == positions(SampleOrder(100, true, 1), 0, 100));
  CHECK(first != positions(SampleOrder(100, true, 1), 100, 100));
  CHECK(first != positions(SampleOrder(100, true, 2), 0, 100));
  CHECK(first != counting(100));
}

TEST_CASE("the order is the same on every machine")
{
  CHECK(positions(SampleOrder(10, true, 1), 0, 10) == std::vector<std::int64_t>{1, 8, 9, 2, 5, 0, 4, 6, 3, 7});
}

TEST_CASE("a position's sample does not depend on the pieces in which the order is read")
{
  constexpr std::size_t length = 200;
  const auto whole = positions(SampleOrder(37, true, 3), 0, length);
  SampleOrder order(37, true, 3);
  std::vector<std::int64_t> pieces;
  for (std::size_t begin = 0, step = 1; begin < length; begin += step, step = std::min(step + 3, length - begin)) {
    std::vector<std::int64_t> piece(step);
    order.fill(static_cast<std::int64_t>(begin), piece);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  CHECK(pieces == whole);
}

TEST_CASE("a shuffle puts every sample in every place about equally often")
{
  constexpr std::int64_t n = 8, epochs = 8000;
  std::vector<int> seen(n * n);
  SampleOrder order(n, true, 11);
  std::vector<std::int64_t> indices(n);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    order.fill(epoch * n, indices);
    for (std::size_t place = 0; place < n; ++place) ++seen[place * n + static_cast<std::size_t>(indices[place])];
  }
  // 1000 expected, deviation about 30: six of them
  CHECK(*std::min_element(seen.begin(), seen.end()) > 820);
  CHECK(*std::max_element(seen.begin(), seen.end()) < 1180);
}

} // namespace dt::data
