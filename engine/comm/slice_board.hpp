// SliceBoard: memory that the ranks of one node share, in which they sum blocks together, each rank a slice. No MPI in it:
// whoever shares the memory may be processes or threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace dt::engine {

// Numbers [begin, end) of a block.
struct Slice {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

// Slice `index` of `count` of a block of so many numbers: equal parts, cut at cache lines; the last one takes what is left.
Slice slice_of(std::size_t block, int index, int count);

// A block goes through four calls on every rank, and every rank takes its blocks in the same order:
//
//   put      my numbers, all but my slice, onto my part of the board
//   reduce   my slice of the sum <- sum over ranks, in rank order             (once all have put)
//   publish  my slice may be read                                             (after it went to other nodes, if there are any)
//   take     all slices of the sum, each from its owner's part                (once all owners have published)
//
// Block b lies in room b mod `rooms` of every part, so up to `rooms` blocks are under way at once. Why nothing is overwritten
// that somebody still reads: what I put is read by owners before they publish, and I put into the room again after I took
// the block, when all had published. A sum is read by whoever takes it, and is written again after all have put their
// next numbers into the room, which each does after it took this one.
//
// Memory that a rank moves for a block of n bytes, with R ranks and as many slices: it reads 3 n - n/R and writes 2 n.
class SliceBoard {
public:
  struct Shape {
    int ranks = 1;
    int rooms = 1;
    std::size_t block = 0; // the most numbers a block has
  };
  // Bytes of each rank's part, which must be aligned to 128 bytes and begin as zeros.
  static std::size_t part_bytes(const Shape& shape);
  // For tests, which pause there: called with the block's number whenever all_put() says no.
  using FoundIncomplete = std::function<void(std::int64_t block)>;
  // parts[r]: the part of rank r.
  SliceBoard(const Shape& shape, int rank, std::vector<std::byte*> parts, FoundIncomplete found_incomplete = {});

  void put(std::int64_t block, std::span<const float> values, int slices);
  // Others put blocks meanwhile: after a no for one block a yes for a later one is possible.
  bool all_put(std::int64_t block) const;
  // `values` as they were put. Nothing for a rank at or above `slices`.
  void reduce(std::int64_t block, std::span<const float> values, int slices);
  // My slice of the sum, from reduce to take: the sum over other nodes goes on in it. Empty for a rank at or above `slices`.
  std::span<float> sum_slice(std::int64_t block, std::size_t length, int slices);
  void publish(std::int64_t block);
  bool all_published(std::int64_t block, int slices) const { return all_reached(&Flags::published, block, slices); }
  void take(std::int64_t block, std::span<float> values, int slices) const;

  const Shape& shape() const { return shape_; }

private:
  // Blocks that a rank has put and published so far. On cache lines of its own: a neighbour's numbers would keep taking it away.
  struct alignas(128) Flags {
    std::atomic<std::int64_t> put;
    alignas(128) std::atomic<std::int64_t> published;
  };
  bool all_reached(std::atomic<std::int64_t> Flags::*flag, std::int64_t block, int ranks) const;
  Flags& flags(int rank) const { return *flags_[static_cast<std::size_t>(rank)]; }
  float* numbers(int rank, std::int64_t block) const; // as put
  float* sum(int rank, std::int64_t block) const;     // the whole block's; a rank fills its slice

  Shape shape_;
  int rank_;
  std::vector<std::byte*> parts_;
  std::vector<Flags*> flags_;
  FoundIncomplete found_incomplete_;
};

// Until ready() is true: asks a few times in a row, then gives the core away in between, because whoever is waited for may
// need this very one.
template<class Ready> void wait_until(const Ready& ready)
{
  constexpr int asks_in_a_row = 200;
  for (int asked = 0; !ready(); ++asked)
    if (asked >= asks_in_a_row) std::this_thread::yield();
}

} // namespace dt::engine
