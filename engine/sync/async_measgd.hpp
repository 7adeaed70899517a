// `async-measgd`: as async-easgd, with momentum on the workers (easgd-hpc, Async MEASGD):
//   V^i <- mu V^i - eta g^i; W^i <- W^i + V^i - eta rho (W^i - centre).
//
// The velocity is the update rule's, a sum of steps (Velocity::of_steps), and the rule acts on the worker: this differs from async-easgd
// in the rule that the trainer makes, and in nothing here.
#pragma once

#include "engine/sync/async_easgd.hpp"

namespace dt::engine {

class AsyncMeasgd : public AsyncEasgd {
public:
  using AsyncEasgd::AsyncEasgd;
};

} // namespace dt::engine
