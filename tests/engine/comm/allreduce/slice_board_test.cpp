// The board on which a node's ranks sum, with threads in the ranks' place: so a race would be seen by the thread sanitizer.
#include "engine/comm/allreduce/slice_board.hpp"
#include "engine/comm/machine/pause.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <thread>

using namespace dt;
using namespace dt::comm;

namespace {

float value_of(int rank, std::size_t index, int round)
{
  return static_cast<float>(rank * 100 + static_cast<int>(index % 97) + round);
}

// Memory for all parts.
struct Memory {
  explicit Memory(const SliceBoard::Shape& shape) : lines(static_cast<std::size_t>(shape.ranks) * lines_of(shape))
  {
    for (int r = 0; r < shape.ranks; ++r)
      parts.push_back(reinterpret_cast<std::byte*>(&lines[static_cast<std::size_t>(r) * lines_of(shape)]));
  }
  struct alignas(128) Line {
    std::byte bytes[128]{};
  };
  static std::size_t lines_of(const SliceBoard::Shape& shape) { return (SliceBoard::part_bytes(shape) + 127) / 128; }
  std::vector<Line> lines;
  std::vector<std::byte*> parts;
};

// One rank's blocks, `rooms` of them under way at once; blocks whose sum was wrong.
int run_rank(const SliceBoard::Shape& shape, int rank, const Memory& memory, int blocks)
{
  SliceBoard board(shape, rank, memory.parts);
  std::mt19937 random(11); // the same lengths and slices for all
  std::vector<std::vector<float>> values(static_cast<std::size_t>(blocks));
  std::vector<int> slices(values.size());
  int wrong = 0;
  const auto finish = [&](int b) {
    auto& sum = values[static_cast<std::size_t>(b)];
    wait_until([&] { return board.all_published(b, slices[static_cast<std::size_t>(b)]); });
    board.take(b, sum, slices[static_cast<std::size_t>(b)]);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      float expected = 0;
      for (int r = 0; r < shape.ranks; ++r) expected += value_of(r, i, b);
      wrong += sum[i] == expected ? 0 : 1;
    }
    sum.clear();
  };
  for (int b = 0; b < blocks; ++b) {
    const auto index = static_cast<std::size_t>(b);
    if (b >= shape.rooms) finish(b - shape.rooms);
    slices[index] = 1 + static_cast<int>(random() % static_cast<unsigned>(shape.ranks));
    for (std::size_t i = 0, length = random() % (shape.block + 1); i < length; ++i) values[index].push_back(value_of(rank, i, b));
    board.put(b, values[index], slices[index]);
    wait_until([&] { return board.all_put(b); });
    board.reduce(b, values[index], slices[index]);
    board.publish(b);
  }
  for (int b = std::max(0, blocks - shape.rooms); b < blocks; ++b) finish(b);
  return wrong;
}

int wrong_numbers(const SliceBoard::Shape& shape, int blocks)
{
  const Memory memory(shape);
  std::atomic<int> wrong{0};
  std::vector<std::jthread> ranks;
  for (int r = 0; r < shape.ranks; ++r) ranks.emplace_back([&, r] { wrong += run_rank(shape, r, memory, blocks); });
  ranks.clear();
  return wrong;
}

} // namespace

TEST_CASE("slices cover a block without a gap, whatever its length")
{
  for (const std::size_t length : {0, 1, 15, 16, 17, 1000, 12345})
    for (int count = 1; count <= 9; ++count) {
      std::size_t end = 0;
      for (int s = 0; s < count; ++s) {
        const auto slice = slice_of(length, s, count);
        CHECK(slice.begin == end);
        CHECK((slice.begin % 16 == 0 || slice.begin == length));
        end = slice.end;
      }
      CHECK(end == length);
      CHECK(slice_of(length, count, count).size() == 0);
    }
}

TEST_CASE("thousands of blocks of changing lengths and slices are summed without a race, in one room and in several")
{
  for (const int ranks : {1, 2, 3, 5})
    for (const int rooms : {1, 3}) {
      CAPTURE(ranks, rooms);
      CHECK(wrong_numbers({.ranks = ranks, .rooms = rooms, .block = 300}, 2000) == 0);
    }
}

TEST_CASE("sums are made in rank order: the same bits whichever rank owns the slice")
{
  const SliceBoard::Shape shape{.ranks = 3, .rooms = 1, .block = 96};
  const Memory memory(shape);
  const float parts[] = {1e8F, -1e8F, 1.0F}; // in any other order the 1 is lost
  std::vector<SliceBoard> boards;
  std::vector<std::vector<float>> values;
  for (int r = 0; r < 3; ++r) {
    boards.emplace_back(shape, r, memory.parts);
    values.emplace_back(96, parts[r]);
  }
  for (std::size_t r = 0; r < 3; ++r) boards[r].put(0, values[r], 3);
  for (std::size_t r = 0; r < 3; ++r) {
    boards[r].reduce(0, values[r], 3);
    boards[r].publish(0);
  }
  for (std::size_t r = 0; r < 3; ++r) {
    boards[r].take(0, values[r], 3);
    CHECK(values[r] == std::vector<float>(96, 1.0F));
  }
}
