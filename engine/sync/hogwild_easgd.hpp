// `hogwild-easgd`: as async-easgd, without the lock on the centre (easgd-hpc, Hogwild EASGD).
//
// Elastic differences of several workers are added to the same numbers at the same time, so one can overwrite another; that is the
// algorithm. With servers, each has sync.server_threads threads. With sync.servers: 0 the workers have the centre in the memory of
// their node.
#pragma once

#include "engine/sync/async_easgd.hpp"
#include "engine/sync/lock_free_server.hpp"

#include <memory>

namespace dt::engine {

class HogwildEasgd : public AsyncEasgd {
public:
  explicit HogwildEasgd(const StrategyParts& parts) : AsyncEasgd(parts, false) {}
  void start(Replica& replica) override;

protected:
  void serve(Replica& replica, PhaseClock& clock) override;
  void meet_centre(Replica& replica, PhaseClock& clock, float alpha, std::span<float> d) override;

private:
  void answer(Replica& replica, LockFreeServer::Task& task);
  std::unique_ptr<LockFreeServer> server_; // on a server
};

} // namespace dt::engine
