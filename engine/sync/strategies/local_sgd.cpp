#include "engine/sync/strategies/local_sgd.hpp"

#include "core/error.hpp"
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/isolated.hpp"

namespace dt::sync {
namespace {

const StrategyParts& checked(const StrategyParts& parts)
{
  if (parts.sync.wire == Wire::float32) return parts;
  throw Error(ErrorKind::recipe, "sync.wire: " + std::string(name_of(parts.sync.wire)) +
                                     " would round the weights that local-sgd averages, not only " +
                                     "gradients. Take sync.wire: float32.");
}

} // namespace

LocalSgd::LocalSgd(const StrategyParts& parts)
    : parts_(checked(parts)), allreduce_(comm::make_allreduce(parts.allreduce(), parts.comm)), sums_(parts, *allreduce_)
{
}

void LocalSgd::start(Replica& replica)
{
  parts_.comm.broadcast(replica.weights());
  messages_ = plan_buckets(replica.tensors(), replica.weights().size(), bucket_bytes(parts_.sync));
}

bool LocalSgd::meets(const Replica& replica) const
{
  return replica.step().epoch < parts_.sync.local_start || is_exchange(parts_.sync, replica.step().number);
}

double LocalSgd::step(Replica& replica, PhaseClock& clock)
{
  if (replica.step().epoch < parts_.sync.local_start) {
    const BatchLoss loss = sums_.compute(replica, clock);
    return sums_.update(loss, replica, clock);
  }
  // g^i <- gradient of the loss at W^i over rank i's batch
  parts_.comm.activity().enter(comm::Doing::works, "computes gradients");
  const BatchLoss loss = replica.compute();
  // W^i <- opt(W^i, g^i)
  clock.begin_update();
  replica.update();
  clock.end_update();
  if (is_exchange(parts_.sync, replica.step().number)) average(replica, clock);
  return loss.mean;
}

// W^i <- sum_j W^j / P
void LocalSgd::average(Replica& replica, PhaseClock& clock)
{
  if (parts_.comm.size() == 1) return;
  parts_.comm.activity().enter(comm::Doing::waits, "waits for the sum of weights");
  clock.begin_communication();
  for (const auto& message : messages_) allreduce_->sum(values_at(replica.weights(), message));
  allreduce_->end_step();
  clock.end_communication();
  clock.begin_update();
  scale(replica.weights(), 1.0F / static_cast<float>(parts_.comm.size()));
  clock.end_update();
}

double LocalSgd::isolated_communication_s(Replica& replica)
{
  return sums_.isolated_s(replica) / static_cast<double>(parts_.sync.period);
}

} // namespace dt::sync
