// `hogwild-easgd`: like async-easgd, without a lock on the centre. [You2017, Hogwild EASGD]
//
// Elastic differences of several workers are added to the same numbers concurrently, so one addition can overwrite another; this
// is part of the algorithm. With servers, each server has sync.server_threads threads. With sync.servers: 0 the centre lies in
// the memory that the workers' node shares.
#pragma once

#include "engine/sync/exchange/lock_free_server.hpp"
#include "engine/sync/strategies/async_easgd.hpp"

#include <memory>

namespace dt::sync {

class HogwildEasgd : public AsyncEasgd {
 public:
  explicit HogwildEasgd(const StrategyParts& parts) : AsyncEasgd(parts, false) {}
  void start(Replica& replica) override;

 protected:
  void serve(Replica& replica, PhaseClock& clock) override;
  void meet_centre(Replica& replica, PhaseClock& clock, float alpha, std::span<float> d) override;

 private:
  void answer(Replica& replica, LockFreeServer::Task& task);
  std::unique_ptr<LockFreeServer> server_; // only on a server
};

} // namespace dt::sync
