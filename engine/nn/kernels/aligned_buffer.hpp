// AlignedBuffer: zeroed floats that start at a cache line. The threads of the calling thread's OpenMP team each touch their share
// first, so that on machines with several memories (NUMA) pages lie near the threads that use them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace dt::nn {

inline constexpr std::int64_t buffer_alignment_bytes = 64;
inline constexpr std::int64_t floats_per_line = buffer_alignment_bytes / static_cast<std::int64_t>(sizeof(float));

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // Throws an environment error that names the size if there is not enough memory.
  explicit AlignedBuffer(std::int64_t bytes);
  void* data() const { return data_.get(); }
  std::span<float> floats() const { return {static_cast<float*>(data_.get()), static_cast<std::size_t>(bytes_) / sizeof(float)}; }

 private:
  struct Free {
    void operator()(void* data) const;
  };
  std::unique_ptr<void, Free> data_;
  std::int64_t bytes_ = 0;
};

} // namespace dt::nn
