#include "engine/comm/allreduce/slice_board.hpp"

#include "engine/comm/machine/pause.hpp"
#include "engine/comm/vectors.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

constexpr std::size_t line = 16; // numbers in a cache line

std::size_t in_lines(std::size_t numbers) { return (numbers + line - 1) / line * line; }

} // namespace

Range slice_of(std::size_t block, int index, int count)
{
  const auto parts = static_cast<std::size_t>(count);
  const auto cut = [&](std::size_t part) { return part == parts ? block : block * part / parts / line * line; };
  if (index >= count) return {block, block};
  return {cut(static_cast<std::size_t>(index)), cut(static_cast<std::size_t>(index) + 1)};
}

std::size_t SliceBoard::part_bytes(const Shape& shape)
{
  return sizeof(Flags) + 2 * static_cast<std::size_t>(shape.rooms) * in_lines(shape.block) * sizeof(float);
}

SliceBoard::SliceBoard(const Shape& shape, int rank, std::vector<std::byte*> parts, FoundIncomplete found_incomplete)
    : shape_(shape), rank_(rank), parts_(std::move(parts)), found_incomplete_(std::move(found_incomplete))
{
  for (auto* part : parts_) flags_.push_back(reinterpret_cast<Flags*>(part));
}

float* SliceBoard::numbers(int rank, std::int64_t block) const
{
  auto* rooms = reinterpret_cast<float*>(parts_[static_cast<std::size_t>(rank)] + sizeof(Flags));
  return rooms + 2 * static_cast<std::size_t>(block % shape_.rooms) * in_lines(shape_.block);
}

float* SliceBoard::sum(int rank, std::int64_t block) const { return numbers(rank, block) + in_lines(shape_.block); }

void SliceBoard::put(std::int64_t block, std::span<const float> values, int slices)
{
  const auto mine = slice_of(values.size(), rank_, slices);
  auto* to = numbers(rank_, block);
  copy_to(values.first(mine.begin), {to, mine.begin});
  copy_to(values.subspan(mine.end), {to + mine.end, values.size() - mine.end});
  flags(rank_).put.store(block + 1, std::memory_order_release);
  wake_pollers();
}

bool SliceBoard::all_put(std::int64_t block) const
{
  if (all_reached(&Flags::put, block, shape_.ranks)) return true;
  if (found_incomplete_) found_incomplete_(block);
  return false;
}

void SliceBoard::reduce(std::int64_t block, std::span<const float> values, int slices)
{
  const auto mine = slice_of(values.size(), rank_, slices);
  std::vector<const float*> sources;
  for (int r = 0; r < shape_.ranks; ++r) sources.push_back((r == rank_ ? values.data() : numbers(r, block)) + mine.begin);
  sum_to(sources, {sum(rank_, block) + mine.begin, mine.size()});
}

std::span<float> SliceBoard::sum_slice(std::int64_t block, std::size_t length, int slices)
{
  const auto mine = slice_of(length, rank_, slices);
  return {sum(rank_, block) + mine.begin, mine.size()};
}

void SliceBoard::publish(std::int64_t block)
{
  flags(rank_).published.store(block + 1, std::memory_order_release);
  wake_pollers();
}

void SliceBoard::take(std::int64_t block, std::span<float> values, int slices) const
{
  for (int i = 0; i < slices; ++i) {
    const int owner = (rank_ + i) % slices; // start at different owners, so that not all ranks read from the same one
    const auto slice = slice_of(values.size(), owner, slices);
    copy_to({sum(owner, block) + slice.begin, slice.size()}, values_at(values, slice));
  }
}

bool SliceBoard::all_reached(std::atomic<std::int64_t> Flags::*flag, std::int64_t block, int ranks) const
{
  return std::all_of(flags_.begin(), flags_.begin() + ranks,
                     [&](const Flags* f) { return (f->*flag).load(std::memory_order_acquire) > block; });
}

} // namespace dt::comm
