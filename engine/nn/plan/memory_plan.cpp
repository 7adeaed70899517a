#include "engine/nn/plan/memory_plan.hpp"

#include "engine/nn/kernels/aligned_buffer.hpp"

#include <algorithm>
#include <numeric>

namespace dt::nn {
namespace {

std::int64_t round_up(std::int64_t bytes)
{
  return (bytes + buffer_alignment_bytes - 1) / buffer_alignment_bytes * buffer_alignment_bytes;
}

struct Place {
  std::int64_t begin, end;
};

// The lowest gap of `bytes` bytes between the places, which may overlap one another.
std::int64_t lowest_gap(std::vector<Place> taken, std::int64_t bytes)
{
  std::sort(taken.begin(), taken.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  std::int64_t offset = 0;
  for (const auto& place : taken) {
    if (offset + bytes <= place.begin) break;
    offset = std::max(offset, place.end);
  }
  return offset;
}

} // namespace

MemoryPlan plan_memory(const std::vector<BufferUse>& uses)
{
  std::vector<std::size_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return uses[a].bytes > uses[b].bytes; });

  MemoryPlan plan{std::vector<std::int64_t>(uses.size(), 0), 0};
  std::vector<std::size_t> placed;
  for (const auto i : order) {
    std::vector<Place> taken;
    for (const auto other : placed)
      if (uses[other].first <= uses[i].last && uses[i].first <= uses[other].last)
        taken.push_back({plan.offsets[other], plan.offsets[other] + round_up(uses[other].bytes)});
    plan.offsets[i] = lowest_gap(std::move(taken), round_up(uses[i].bytes));
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + round_up(uses[i].bytes));
    placed.push_back(i);
  }
  return plan;
}

} // namespace dt::nn
