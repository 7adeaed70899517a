// `sync-sgd`: synchronous SGD, the baseline of all papers. P ranks with batch b compute the same as one rank with batch Pb.
#include "engine/sync/exchange/gradient_sums.hpp"

namespace dt::sync {
namespace {

class SyncSgd : public Strategy {
 public:
  explicit SyncSgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  double step(Replica& replica, PhaseClock& clock) override;
  void begin_measuring() override { sums_.begin_measuring(); }
  std::vector<BucketRecord> buckets() const override { return sums_.buckets(); }
  GradientNoise* noise() override { return &sums_.noise(); }
  double isolated_communication_s(Replica& replica) override { return sums_.isolated_s(replica); }
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_.facts(); }

 private:
  comm::Communicator& comm_;
  std::unique_ptr<comm::Allreduce> allreduce_;
  GradientSums sums_;
};

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

} // namespace

std::unique_ptr<Strategy> make_sync_sgd(const StrategyParts& parts) { return std::make_unique<SyncSgd>(parts); }

} // namespace dt::sync
