// SharedVectors: vectors of equal length that the ranks of one node keep in shared memory: some that all have in common, and one
// of each rank.
#pragma once

#include "core/maths/range.hpp"
#include "engine/comm/machine/doorbell.hpp"
#include "engine/comm/machine/ranks/shared_memory.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace dt::comm {

class SharedVectors {
 public:
  struct Shape {
    std::size_t length = 0; // numbers in a vector
    std::size_t common = 0; // vectors that all ranks have in common
  };
  // All vectors are zeros and aligned to a page. Pages are placed by first touch: a rank touches its own vector, and its slice of
  // the common ones. Ranks that have no core of their own sleep while they wait. Throws an internal error if the ranks give
  // different shapes. Collective.
  SharedVectors(Communicator& node, const Shape& shape);

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(own_.size()); }
  std::size_t length() const { return length_; }
  std::span<float> common(std::size_t index) const { return common_[index]; }
  std::span<const std::span<float>> commons() const { return common_; }
  std::span<float> own() const { return own_[static_cast<std::size_t>(rank_)]; }
  std::span<const float> of(int rank) const { return own_[static_cast<std::size_t>(rank)]; }
  // This rank's slice of a vector: what it alone writes of the common ones. Together the slices cover the vector.
  Range slice() const;

  // Returns when all ranks have called it as often as this rank. What a rank wrote before, all ranks read afterwards. `note`:
  // what this rank tells the others with it.
  using Note = std::array<double, 2>;
  void meet(const Note& note = {});
  // What the rank told at the last meeting. Valid until this rank's next one.
  Note note_of(int rank) const;

  // sums[i] <- sum over ranks, in rank order, of own[begin + i]. Allowed between two meetings in which no rank writes to its own
  // vector. Several threads may call it.
  void sum(std::size_t begin, std::span<float> sums) const;

  Waiting waiting() const { return wait_.waiting(); }
  const SharedMemory& memory() const { return memory_; }

 private:
  // What a rank tells at a meeting, in cache lines of its own. A note of the meeting before stays readable, so there are two.
  struct alignas(128) Desk {
    std::atomic<std::int64_t> meetings;
    std::array<Note, 2> notes;
  };
  struct Places;
  SharedVectors(Communicator& node, const Shape& shape, const Places& places);
  Desk& desk(int rank) const { return desks_[rank]; }

  int rank_;
  std::size_t length_;
  SharedMemory memory_;
  NodeWait wait_;
  Desk* desks_;
  std::vector<std::span<float>> common_, own_;
  std::int64_t meetings_ = 0;
};

} // namespace dt::comm
