#include "engine/comm/allreduce/shared_vectors.hpp"

#include "core/error.hpp"
#include "engine/comm/allreduce/slice_board.hpp"
#include "engine/comm/placement.hpp"
#include "engine/comm/vectors.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::comm {
namespace {

std::size_t in_units(std::size_t bytes)
{
  constexpr std::size_t page = 4096;
  const auto unit = bytes < huge_page_bytes ? page : huge_page_bytes;
  return (bytes + unit - 1) / unit * unit;
}

const SharedVectors::Shape& checked(Communicator& node, const SharedVectors::Shape& shape)
{
  if (node.all_equal(fmt::format("{} {}", shape.length, shape.common))) return shape;
  throw Error(ErrorKind::internal,
              fmt::format("The ranks of a node share vectors of different lengths; rank {}'s have {} numbers.",
                          node.world_rank(node.rank()), shape.length));
}

} // namespace

// Where things lie in the memory, in bytes: doorbell, desks, common vectors, own vectors.
struct SharedVectors::Places {
  Places(int ranks, const Shape& shape)
      : vector_bytes(in_units(shape.length * sizeof(float))), ranks_count(static_cast<std::size_t>(ranks)),
        vectors(std::max(in_units(sizeof(Doorbell) + ranks_count * sizeof(Desk)),
                         vector_bytes < huge_page_bytes ? 0 : huge_page_bytes)),
        end(vectors + (shape.common + ranks_count) * vector_bytes)
  {
  }
  std::size_t vector_bytes, ranks_count;
  std::size_t vectors; // of the first vector
  std::size_t end;
};

SharedVectors::SharedVectors(Communicator& node, const Shape& shape)
    : SharedVectors(node, checked(node, shape), Places(node.size(), shape))
{
}

SharedVectors::SharedVectors(Communicator& node, const Shape& shape, const Places& places)
    : rank_(node.rank()), length_(shape.length), memory_(node, places.end),
      wait_(*reinterpret_cast<Doorbell*>(memory_.data()), have_own_cores(gather_places(node)) ? Waiting::spins : Waiting::sleeps),
      desks_(reinterpret_cast<Desk*>(memory_.data() + sizeof(Doorbell)))
{
  auto* next = memory_.data() + places.vectors;
  for (std::size_t v = 0; v < shape.common + places.ranks_count; ++v, next += places.vector_bytes)
    (v < shape.common ? common_ : own_).emplace_back(reinterpret_cast<float*>(next), length_);
  std::ranges::fill(own(), 0.0F);
  for (const auto& vector : common_) std::ranges::fill(values_at(vector, slice()), 0.0F);
  node.barrier();
}

Range SharedVectors::slice() const { return slice_of(length_, rank_, ranks()); }

void SharedVectors::meet(const Note& note)
{
  auto& mine = desk(rank_);
  mine.notes[static_cast<std::size_t>(meetings_ % 2)] = note;
  ++meetings_;
  mine.meetings.store(meetings_, std::memory_order_release);
  wait_.tell();
  for (int r = 0; r < ranks(); ++r) wait_.until([&] { return desk(r).meetings.load(std::memory_order_acquire) >= meetings_; });
}

SharedVectors::Note SharedVectors::note_of(int rank) const
{
  return desk(rank).notes[static_cast<std::size_t>((meetings_ + 1) % 2)];
}

void SharedVectors::sum(std::size_t begin, std::span<float> sums) const
{
  copy_to(of(0).subspan(begin, sums.size()), sums);
  for (int r = 1; r < ranks(); ++r) add_to(sums, of(r).subspan(begin, sums.size()));
}

} // namespace dt::comm
