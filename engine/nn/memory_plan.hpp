// MemoryPlan: where buffers lie in one stretch of memory when those that are never alive together may share a place.
#pragma once

#include <cstdint>
#include <vector>

namespace dt::engine {

// A buffer and the first and last operation that touch it.
struct BufferUse {
  std::int64_t bytes = 0;
  std::int64_t first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets; // in bytes, on cache lines, in the order of the uses
  std::int64_t bytes = 0;            // of the whole stretch
};

// Buffers by size, the largest first, each at the lowest place where none lies that is alive at the same time.
MemoryPlan plan_memory(const std::vector<BufferUse>& uses);

} // namespace dt::engine
