// `async-sgd`: workers never wait for one another; a parameter server applies each gradient when it arrives. [You2017, Async SGD]
#pragma once

#include "engine/sync/exchange/served_strategy.hpp"

namespace dt::sync {

class AsyncSgd : public ServedStrategy {
 public:
  explicit AsyncSgd(const StrategyParts& parts) : AsyncSgd(parts, true) {}

 protected:
  AsyncSgd(const StrategyParts& parts, bool needs_servers) : ServedStrategy(parts, Cut::tensors, needs_servers) {}
  double work(Replica& replica, PhaseClock& clock) override;
  void serve(Replica& replica, PhaseClock& clock) override;
};

} // namespace dt::sync
