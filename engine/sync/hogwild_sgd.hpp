// `hogwild-sgd`: as async-sgd, with the lock on the centre's update removed (easgd-hpc, Hogwild SGD; Recht et al. 2011).
//
// Updates of several workers run at the same time on the same numbers, so one can overwrite another's or be read half done; that
// is the algorithm. With servers, each has sync.server_threads threads. With sync.servers: 0 every worker updates one centre in the
// memory of their node.
#pragma once

#include "engine/sync/async_sgd.hpp"
#include "engine/sync/lock_free_server.hpp"

#include <memory>

namespace dt::engine {

class HogwildSgd : public AsyncSgd {
public:
  explicit HogwildSgd(const StrategyParts& parts) : AsyncSgd(parts, false) {}
  void start(Replica& replica) override;

protected:
  double work(Replica& replica, PhaseClock& clock) override;
  void serve(Replica& replica, PhaseClock& clock) override;

private:
  void answer(Replica& replica, LockFreeServer::Task& task);
  std::unique_ptr<LockFreeServer> server_; // on a server
};

} // namespace dt::engine
