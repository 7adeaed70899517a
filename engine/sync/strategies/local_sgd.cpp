// `local-sgd`: every rank makes its own steps, and every tau steps the ranks average their weights. With sync.local_start it runs
// sync-sgd for the first epochs (post-local SGD). [Stich2019] [Lin2020]
//
// State of the update rule (a velocity) is kept on each rank and not averaged.
#include "core/error.hpp"
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/gradient_sums.hpp"
#include "engine/sync/exchange/isolated.hpp"

namespace dt::sync {
namespace {

class LocalSgd : public Strategy {
 public:
  // Throws a recipe error for a wire format other than float32, which would round the weights.
  explicit LocalSgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch; in the epochs of sync-sgd, the loss over all ranks.
  double step(Replica& replica, PhaseClock& clock) override;
  bool meets(const Replica& replica) const override;
  bool replicated() const override { return false; }
  // For a step after sync.local_start.
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_.facts(); }

 private:
  void average(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  std::unique_ptr<comm::Allreduce> allreduce_;
  GradientSums sums_;
  std::vector<Range> messages_; // ranges of the weights that are summed one after another
};

const StrategyParts& checked(const StrategyParts& parts)
{
  if (parts.sync.wire == Wire::float32) return parts;
  throw Error(ErrorKind::recipe, "sync.wire: " + std::string(name_of(parts.sync.wire)) +
                                     " would round the weights that local-sgd averages, not only " +
                                     "gradients. Take sync.wire: float32.");
}

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
  for (const auto& message : messages_) sum_over_ranks(*allreduce_, parts_.comm, values_at(weights_of(replica), message));
  allreduce_->end_step();
  clock.end_communication();
  clock.begin_update();
  scale(weights_of(replica), 1.0F / static_cast<float>(parts_.comm.size()));
  clock.end_update();
}

double LocalSgd::isolated_communication_s(Replica& replica)
{
  return sums_.isolated_s(replica) / static_cast<double>(parts_.sync.period);
}

} // namespace

std::unique_ptr<Strategy> make_local_sgd(const StrategyParts& parts) { return std::make_unique<LocalSgd>(parts); }

} // namespace dt::sync
