// MemoryPlan: offsets of buffers in one block of memory. Buffers that are never in use at the same time may share a place.
#pragma once

#include <cstdint>
#include <vector>

namespace dt::nn {

// Size of a buffer, and the first and last operation that use it.
struct BufferUse {
  std::int64_t bytes = 0;
  std::int64_t first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets; // in bytes, multiples of a cache line, in the order of the uses
  std::int64_t bytes = 0;            // size of the whole block
};

// Places buffers by size, the largest first, each at the lowest offset where it overlaps no buffer in use at the same time.
MemoryPlan plan_memory(const std::vector<BufferUse>& uses);

} // namespace dt::nn
