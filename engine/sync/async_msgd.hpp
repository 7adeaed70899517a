// `async-msgd`: as async-sgd, with the momentum kept on the servers (easgd-hpc, Async MSGD): V <- mu V - eta g; centre <- centre + V.
//
// The velocity is the update rule's, and the rule acts where the centre is: on the server, with one velocity for the gradients of
// all workers. So this differs from async-sgd in the rule that the recipe must name, and in nothing here.
#pragma once

#include "engine/sync/async_sgd.hpp"

namespace dt::engine {

class AsyncMsgd : public AsyncSgd {
public:
  using AsyncSgd::AsyncSgd;
};

} // namespace dt::engine
