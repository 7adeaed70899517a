// Floats on a cache line's boundary, zero at the start. Pages are first touched by the calling thread's OpenMP team, each its share, so
// that on a machine with several memories they lie near who uses them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace dt::engine {

inline constexpr std::int64_t buffer_alignment_bytes = 64;
inline constexpr std::int64_t floats_per_line = buffer_alignment_bytes / static_cast<std::int64_t>(sizeof(float));

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // An environment error that names the size when there is not enough memory.
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

} // namespace dt::engine
