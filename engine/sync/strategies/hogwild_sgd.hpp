// `hogwild-sgd`: like async-sgd, without a lock on the centre. [You2017, Hogwild SGD] [Recht2011]
//
// Updates of several workers run concurrently on the same numbers, so one update can overwrite another or be read half done; this
// is part of the algorithm. With servers, each server has sync.server_threads threads. With sync.servers: 0 every worker updates
// one centre in the memory that their node shares.
#pragma once

#include "engine/sync/exchange/lock_free_server.hpp"
#include "engine/sync/strategies/async_sgd.hpp"

#include <memory>

namespace dt::sync {

class HogwildSgd : public AsyncSgd {
 public:
  explicit HogwildSgd(const StrategyParts& parts) : AsyncSgd(parts, false) {}
  void start(Replica& replica) override;

 protected:
  double work(Replica& replica, PhaseClock& clock) override;
  void serve(Replica& replica, PhaseClock& clock) override;

 private:
  void answer(Replica& replica, LockFreeServer::Task& task);
  std::unique_ptr<LockFreeServer> server_; // only on a server
};

} // namespace dt::sync
