#include "engine/sync/vector.hpp"

#include "engine/sync/replica.hpp"

namespace dt::sync {

bool Vector::combine_on_device(float a, const Vector& x, float b, const Vector* z, float c) const
{
  const auto is_beside = [&](const Vector& other) { return other.device_ == device_ && other.range_ == range_; };
  if (device_ == nullptr || !is_beside(x) || (z != nullptr && !is_beside(*z))) return false;
  device_->combine(number_, a, x.number_, b, z == nullptr ? Device::none : z->number_, c, range_);
  return true;
}

OwnVector::OwnVector(comm::Floats values, Replica& replica) : values_(std::move(values)), device_(replica.device())
{
  if (device_ != nullptr) number_ = device_->add(values_);
}

Vector weights_of(Replica& replica)
{
  auto* device = replica.device();
  return device != nullptr ? Vector(*device, Device::weights) : Vector(replica.weights());
}

Vector gradients_of(Replica& replica)
{
  auto* device = replica.device();
  return device != nullptr && device->can_sum() ? Vector(*device, Device::gradients) : Vector(replica.gradients());
}

} // namespace dt::sync
