#include "engine/data/reading/order.hpp"
#include "engine/data/source.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
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

namespace {

// What P ranks read in so many steps: a list per rank.
std::vector<std::vector<std::int64_t>> parts_of_ranks(BlockOrder::Options options, std::int64_t steps)
{
  std::vector<std::vector<std::int64_t>> parts;
  for (options.rank = 0; options.rank < options.ranks; ++options.rank) {
    BlockOrder order(options);
    auto& part = parts.emplace_back(static_cast<std::size_t>(steps * options.batch_per_rank));
    for (std::int64_t step = 0; step < steps; ++step)
      order.fill(step, std::span(part).subspan(static_cast<std::size_t>(step * options.batch_per_rank),
                                               static_cast<std::size_t>(options.batch_per_rank)));
  }
  return parts;
}

// The samples in the order of the stream: rank by rank within each step.
std::vector<std::int64_t> stream_of(const std::vector<std::vector<std::int64_t>>& parts, std::int64_t batch_per_rank)
{
  std::vector<std::int64_t> stream;
  const auto batch = static_cast<std::size_t>(batch_per_rank);
  for (std::size_t begin = 0; begin < parts.front().size(); begin += batch)
    for (const auto& part : parts)
      stream.insert(stream.end(), part.begin() + static_cast<std::ptrdiff_t>(begin),
                    part.begin() + static_cast<std::ptrdiff_t>(begin + batch));
  return stream;
}

} // namespace

TEST_CASE("in blocks, every epoch has every sample once for 1 to 9 ranks, whatever the sizes of set, block and batch")
{
  const auto samples = GENERATE(as<std::int64_t>(), 1, 2, 10, 97, 256);
  const auto per_block = GENERATE(as<std::int64_t>(), 1, 7, 32, 1000);
  const bool shuffle = GENERATE(true, false);
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const std::int64_t batch : {1, 3, 16}) {
      CAPTURE(samples, per_block, shuffle, ranks, batch);
      const std::int64_t epochs = 3, steps = (epochs * samples + ranks * batch - 1) / (ranks * batch);
      const auto stream = stream_of(parts_of_ranks({.samples = samples,
                                                    .samples_per_block = per_block,
                                                    .shuffle = shuffle,
                                                    .seed = 5,
                                                    .batch_per_rank = batch,
                                                    .ranks = ranks},
                                                   steps),
                                    batch);
      for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
        std::vector<std::int64_t> seen(stream.begin() + epoch * samples, stream.begin() + (epoch + 1) * samples);
        std::ranges::sort(seen);
        for (std::int64_t i = 0; i < samples; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
      }
    }
}

TEST_CASE("in the order of the file, each rank reads one contiguous part")
{
  const auto parts =
      parts_of_ranks({.samples = 60, .samples_per_block = 8, .shuffle = false, .batch_per_rank = 5, .ranks = 3}, 4); // one epoch
  CHECK(parts[0] == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
  CHECK(parts[2].front() == 40);
  CHECK(parts[2].back() == 59);
}

TEST_CASE("in blocks, a rank finishes a block before it begins the next, and shares only its first and last one")
{
  const BlockOrder::Options options{
      .samples = 1000, .samples_per_block = 50, .shuffle = true, .seed = 3, .batch_per_rank = 10, .ranks = 4};
  std::map<std::int64_t, std::set<int>> readers; // of each block in the first epoch
  const auto parts = parts_of_ranks(options, 25);
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<std::int64_t> blocks;
    for (const auto index : parts[static_cast<std::size_t>(rank)])
      if (blocks.empty() || blocks.back() != index / 50) blocks.push_back(index / 50);
    CHECK(blocks.size() <= 6); // 250 samples
    CHECK(std::set(blocks.begin(), blocks.end()).size() == blocks.size());
    for (const auto block : blocks) readers[block].insert(rank);
  }
  std::int64_t shared = 0;
  for (const auto& [block, ranks] : readers) shared += ranks.size() > 1 ? 1 : 0;
  CHECK(shared <= 3);
  CHECK(readers.size() == 20);
}

TEST_CASE("in blocks, order and seed decide: epochs and seeds differ, and a resumed rank goes on where it was")
{
  const BlockOrder::Options options{
      .samples = 100, .samples_per_block = 10, .shuffle = true, .seed = 3, .batch_per_rank = 10, .rank = 1, .ranks = 2};
  auto another = options;
  another.seed = 4;
  const auto read = [](const BlockOrder::Options& some, std::int64_t first, std::int64_t count) {
    BlockOrder order(some);
    std::vector<std::int64_t> indices(static_cast<std::size_t>(10 * count));
    for (std::int64_t i = 0; i < count; ++i)
      order.fill(first + i, std::span(indices).subspan(static_cast<std::size_t>(10 * i), 10));
    return indices;
  };
  CHECK(read(options, 0, 5) != read(options, 5, 5));
  CHECK(read(options, 0, 5) != read(another, 0, 5));
  const auto whole = read(options, 0, 12);
  CHECK(read(options, 7, 5) == std::vector(whole.begin() + 70, whole.end()));
}

TEST_CASE(
    "in blocks, the samples of a block are in random order, another one in each epoch, and in the file's order without shuffling")
{
  BlockOrder::Options options{.samples = 50, .samples_per_block = 50, .shuffle = true, .seed = 2, .batch_per_rank = 50};
  std::vector<std::int64_t> first(50), second(50);
  BlockOrder shuffled(options);
  shuffled.fill(0, first);
  shuffled.fill(1, second);
  CHECK_FALSE(std::ranges::is_sorted(first));
  CHECK(first != second);
  options.shuffle = false;
  BlockOrder(options).fill(0, first);
  CHECK(std::ranges::is_sorted(first));
}

TEST_CASE("the block that is read ahead is the next one that the rank needs")
{
  const bool shuffle = GENERATE(true, false);
  const auto ranks = GENERATE(1, 3);
  const BlockOrder::Options options{.samples = 95,
                                    .samples_per_block = 10,
                                    .shuffle = shuffle,
                                    .seed = 8,
                                    .batch_per_rank = 4,
                                    .rank = ranks - 1,
                                    .ranks = ranks};
  BlockOrder order(options), ahead(options);
  std::vector<std::int64_t> all(4 * 60);
  for (std::int64_t step = 0; step < 60; ++step) order.fill(step, std::span(all).subspan(static_cast<std::size_t>(4 * step), 4));
  for (std::size_t step = 0; step < 40; ++step) {
    const auto last = order.block_of(all[4 * step + 3]);
    const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(4 * step + 4), all.end(),
                                   [&](std::int64_t index) { return order.block_of(index) != last; });
    REQUIRE(next != all.end());
    CHECK(ahead.block_after(static_cast<std::int64_t>(step)) == order.block_of(*next));
  }
}

} // namespace dt::data
