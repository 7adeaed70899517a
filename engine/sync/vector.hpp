// Vector: floats with the layout of the weights on which a strategy does its arithmetic, and messages read and write. Where the
// weights of a replica lie on a device, the vector lies there too, with a copy in the host's memory, and only ranges that
// messages touch are copied between the two.
#pragma once

#include "core/maths/range.hpp"
#include "engine/comm/machine/buffer.hpp"

#include <span>

namespace dt::sync {

class Replica;

// The device on which a replica's weights lie. Its vectors have numbers; 0 is the weights, 1 the gradients.
class Device {
 public:
  static constexpr int weights = 0, gradients = 1;

  virtual ~Device() = default;
  // A new vector on the device, equal to `host`, which is its copy in the host's memory and must outlive the device's use of it.
  // Returns its number.
  virtual int add(std::span<float> host) = 0;
  // The copy of a vector in the host's memory, whose values may be older than those on the device.
  virtual std::span<float> copy_of(int vector) = 0;
  // Makes this range of the copy as new as the vector on the device. If the caller may `write` to it, the device takes it over
  // before it uses the vector.
  virtual void bring(int vector, Range range, bool write) = 0;
  // y <- a y + b x + c z in the range; `z` may be none.
  static constexpr int none = -1;
  virtual void combine(int y, float a, int x, float b, int z, float c, Range range) = 0;
  // Whether vectors are summed over ranks where they lie, in place of a sum of their copies.
  virtual bool can_sum() const { return false; }
  // vector <- sum over these ranks of the training, in the range; none: over all. What follows on the device comes behind the
  // sum, which may go on meanwhile.
  virtual void sum(int, Range, std::span<const int>) {}
};

// A part of a vector, or all of it; cheap to copy, like std::span.
class Vector {
 public:
  // In the host's memory alone.
  Vector(std::span<float> values)
      : copy_(values), range_{0, values.size()} {} // NOLINT(google-explicit-constructor): like std::span
  Vector(Device& device, int number) : device_(&device), number_(number), copy_(device.copy_of(number)), range_{0, copy_.size()}
  {
  }

  std::size_t size() const { return range_.size(); }
  // Its newest values in the host's memory, to read, and to read and write.
  std::span<const float> read() const { return brought(false); }
  std::span<float> host() const { return brought(true); }
  // this <- a this + b x + c z, on the device. Returns false if this, x and z do not all lie on one device; then nothing was
  // done.
  bool combine_on_device(float a, const Vector& x, float b, const Vector* z = nullptr, float c = 0) const;

  // Whether the device sums it over ranks.
  bool can_sum_on_device() const { return device_ != nullptr && device_->can_sum(); }
  void sum_on_device(std::span<const int> ranks) const { device_->sum(number_, range_, ranks); }

  friend Vector values_at(Vector vector, Range range)
  {
    vector.range_ = {vector.range_.begin + range.begin, vector.range_.begin + range.end};
    return vector;
  }

 private:
  std::span<float> brought(bool write) const
  {
    if (device_ != nullptr) device_->bring(number_, range_, write);
    return values_at(copy_, range_);
  }

  Device* device_ = nullptr; // null: in the host's memory alone
  int number_ = 0;
  std::span<float> copy_; // of the whole vector
  Range range_;
};

// A strategy's own vector.
class OwnVector {
 public:
  OwnVector() = default;
  // With these values; beside the weights of the replica, on its device if it has one.
  OwnVector(comm::Floats values, Replica& replica);
  explicit OwnVector(comm::Floats values) : values_(std::move(values)) {}

  operator Vector()
  {
    return device_ != nullptr ? Vector(*device_, number_) : Vector(values_);
  } // NOLINT(google-explicit-constructor)
  Vector at(Range range) { return values_at(Vector(*this), range); }
  std::size_t size() const { return values_.size(); }
  std::span<const float> read() { return Vector(*this).read(); }
  std::span<float> host() { return Vector(*this).host(); }

 private:
  comm::Floats values_;
  Device* device_ = nullptr;
  int number_ = 0;
};

// The weights of a replica.
Vector weights_of(Replica& replica);
// Its gradients, where they are summed: on its device if that can sum; else in the host's memory.
Vector gradients_of(Replica& replica);

} // namespace dt::sync
