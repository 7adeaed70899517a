// `async-msgd`: like async-sgd, with the momentum on the servers: V <- mu V - eta g; centre <- centre + V. [You2017, Async MSGD]
//
// The velocity belongs to the update rule, which runs on the server: one velocity for the gradients of all workers. It is a sum
// of steps (Velocity::of_steps), so that a worker's eta scales only its own gradients. The only difference to async-sgd is the
// rule that the trainer makes; this class adds no code.
#pragma once

#include "engine/sync/strategies/async_sgd.hpp"

namespace dt::sync {

class AsyncMsgd : public AsyncSgd {
 public:
  using AsyncSgd::AsyncSgd;
};

} // namespace dt::sync
