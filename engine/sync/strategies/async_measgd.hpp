// `async-measgd`: like async-easgd, with momentum on the workers. [You2017, Async MEASGD]
//   V^i <- mu V^i - eta g^i; W^i <- W^i + V^i - eta rho (W^i - centre).
//
// The velocity belongs to the worker's update rule, as a sum of steps (Velocity::of_steps). So the only difference to async-easgd
// is the rule that the trainer makes; this class adds no code.
#pragma once

#include "engine/sync/strategies/async_easgd.hpp"

namespace dt::sync {

class AsyncMeasgd : public AsyncEasgd {
 public:
  using AsyncEasgd::AsyncEasgd;
};

} // namespace dt::sync
