#include "engine/sync/strategies/sync_sgd.hpp"

namespace dt::sync {

SyncSgd::SyncSgd(const StrategyParts& parts)
    : comm_(parts.comm), allreduce_(comm::make_allreduce(parts.allreduce(), parts.comm)), sums_(parts, *allreduce_)
{
}

void SyncSgd::start(Replica& replica) { comm_.broadcast(replica.weights()); }

double SyncSgd::step(Replica& replica, PhaseClock& clock)
{
  // g^i <- gradient of the loss at W over rank i's batch
  const BatchLoss loss = sums_.compute(replica, clock);
  // W <- opt(W, sum_i g^i / P)
  return sums_.update(loss, replica, clock);
}

} // namespace dt::sync
