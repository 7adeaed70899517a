// `async-msgd`: as async-sgd, with the momentum kept on the servers (easgd-hpc, Async MSGD): V <- mu V - eta g; centre <- centre + V.
//
// The velocity is the update rule's, and the rule acts where the centre is: on the server, with one velocity for the gradients of
// all workers. It is a sum of steps (Velocity::of_steps), so that a worker's eta scales its own gradients and nobody else's. So this
// differs from async-sgd in the rule that the trainer makes, and in nothing here.
#pragma once

#include "engine/sync/async_sgd.hpp"

namespace dt::engine {

class AsyncMsgd : public AsyncSgd {
public:
  using AsyncSgd::AsyncSgd;
};

} // namespace dt::engine
