// SliceBoard: memory that the ranks of one node share to sum blocks together, one slice per rank. It does not use MPI: the ranks
// may be processes or threads.
#pragma once

#include "core/maths/range.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace dt::comm {

// Range `index` of `count` of a block with `block` numbers: equal parts, cut at cache lines. The last slice gets the remainder.
Range slice_of(std::size_t block, int index, int count);

// A block goes through four calls on every rank, and every rank takes its blocks in the same order:
//
//   put      copies my numbers, except my slice, to my part of the board
//   reduce   my slice of the sum <- sum over ranks, in rank order             (once all have put)
//   publish  allows the others to read my slice                               (after the sum across nodes, if any)
//   take     copies all slices of the sum, each from its owner's part          (once all owners have published)
//
// Block b uses room b mod `rooms` of every part, so up to `rooms` blocks are in progress at once. Nothing is overwritten while
// another rank reads it:
// - The owners read my numbers before they publish. I put into the same room again only after I took the block, when all owners
//   had published.
// - A sum is read by take. It is written again only after all ranks have put their next numbers into the room, and each rank does
//   that only after it took this block.
//
// Memory traffic of a rank for a block of n bytes, with R ranks and R slices: it reads 3 n - n/R bytes and writes 2 n bytes.
class SliceBoard {
 public:
  struct Shape {
    int ranks = 1;
    int rooms = 1;
    std::size_t block = 0; // the most numbers in a block
  };
  // Size of each rank's part in bytes. A part must be aligned to 128 bytes and start as zeros.
  static std::size_t part_bytes(const Shape& shape);
  // For tests, which pause here: called with the block's number whenever all_put() returns false.
  using FoundIncomplete = std::function<void(std::int64_t block)>;
  // parts[r] is the part of rank r.
  SliceBoard(const Shape& shape, int rank, std::vector<std::byte*> parts, FoundIncomplete found_incomplete = {});

  void put(std::int64_t block, std::span<const float> values, int slices);
  // Other ranks put blocks concurrently: all_put() may return false for one block and then true for a later one.
  bool all_put(std::int64_t block) const;
  // `values` must be the same as in put(). Does nothing on a rank at or above `slices`.
  void reduce(std::int64_t block, std::span<const float> values, int slices);
  // This rank's slice of the sum, valid from reduce to take; the sum over the nodes updates it in place. Empty for a rank at or
  // above `slices`.
  std::span<float> sum_slice(std::int64_t block, std::size_t length, int slices);
  void publish(std::int64_t block);
  bool all_published(std::int64_t block, int slices) const { return all_reached(&Flags::published, block, slices); }
  void take(std::int64_t block, std::span<float> values, int slices) const;

  const Shape& shape() const { return shape_; }

 private:
  // Number of blocks that a rank has put and published so far. Each counter has its own cache lines, to avoid false sharing.
  struct alignas(128) Flags {
    std::atomic<std::int64_t> put;
    alignas(128) std::atomic<std::int64_t> published;
  };
  bool all_reached(std::atomic<std::int64_t> Flags::*flag, std::int64_t block, int ranks) const;
  Flags& flags(int rank) const { return *flags_[static_cast<std::size_t>(rank)]; }
  float* numbers(int rank, std::int64_t block) const; // the numbers that the rank put
  float* sum(int rank, std::int64_t block) const;     // a whole block; the rank fills only its slice

  Shape shape_;
  int rank_;
  std::vector<std::byte*> parts_;
  std::vector<Flags*> flags_;
  FoundIncomplete found_incomplete_;
};

} // namespace dt::comm
