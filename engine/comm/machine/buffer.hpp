// Buffer: memory for numbers that a rank sends, receives or keeps.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace dt::comm {

// Returns `bytes` zero bytes, aligned to 64 bytes; give them back with return_memory(). Throws an environment error if there is
// no memory left. In a simulation all ranks may get the same memory, whose content has no meaning.
std::byte* take_memory(std::size_t bytes);
void return_memory(std::byte* memory) noexcept;

template<class Number> class Buffer {
  static_assert(std::is_trivially_copyable_v<Number>);

 public:
  Buffer() = default;
  // `count` zeros.
  explicit Buffer(std::size_t count) : memory_(count == 0 ? nullptr : take_memory(count * sizeof(Number))), size_(count) {}
  Buffer(Buffer&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept
  {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  // Has at least `count` numbers afterwards. If it must grow, all of them are 0; otherwise nothing changes.
  void grow(std::size_t count)
  {
    if (count > size_) *this = Buffer(count);
  }

  Number* data() { return reinterpret_cast<Number*>(memory_.get()); }
  const Number* data() const { return reinterpret_cast<const Number*>(memory_.get()); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Number* begin() { return data(); }
  Number* end() { return data() + size_; }
  const Number* begin() const { return data(); }
  const Number* end() const { return data() + size_; }

 private:
  struct Return {
    void operator()(std::byte* memory) const noexcept { return_memory(memory); }
  };
  std::unique_ptr<std::byte, Return> memory_;
  std::size_t size_ = 0;
};

using Floats = Buffer<float>;

} // namespace dt::comm
