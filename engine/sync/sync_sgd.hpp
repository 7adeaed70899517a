// `sync-sgd`: synchronous SGD, the form all papers compare with. P ranks of batch b equal one rank of batch Pb.
#pragma once

#include "engine/sync/strategy.hpp"

namespace dt::engine {

class SyncSgd : public Strategy {
public:
  explicit SyncSgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  double step(Replica& replica, PhaseClock& clock) override;

private:
  Communicator& comm_;
  std::unique_ptr<Allreduce> allreduce_;
};

} // namespace dt::engine
