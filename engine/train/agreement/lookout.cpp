#include "engine/train/agreement/lookout.hpp"

#include <algorithm>

namespace dt::train {

std::int64_t Lookout::proposal(double seconds) const
{
  const double fitting = static_cast<double>(interval_) * every_s_ / std::max(seconds, 1e-9);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(fitting, 2.0 * static_cast<double>(interval_))));
}

void Lookout::agree(std::int64_t step, std::int64_t interval)
{
  interval_ = std::max<std::int64_t>(1, interval);
  next_ = step + interval_;
}

} // namespace dt::train
