// Descriptor: owns a file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace dt {

class Descriptor {
 public:
  // Takes over an open descriptor; -1: none.
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor()
  {
    if (value_ >= 0) ::close(value_);
  }
  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }
  // The caller closes it from now on.
  int release() { return std::exchange(value_, -1); }
  // The result of close(2): network file systems and quotas report a failed write only here.
  int close() { return ::close(release()); }

 private:
  int value_;
};

} // namespace dt
