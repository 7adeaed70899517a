// `sync-easgd` (You, Buluç, Demmel: Scaling Deep Learning on GPU and Knights Landing clusters): elastic averaging with all
// workers at once, deterministic.
//
// The paper's three forms, and what they are here:
//   1  a tree broadcasts the centre from rank 0 and sums the weights to it, in place of P serial transfers. The paper keeps the
//      centre in the host's memory and weights on the devices; here both pass through staging buffers (our reading on CPUs).
//   2  all weights stay where they are computed with, and nothing is staged. Ours: so does a replica of the centre on every rank,
//      so that one allreduce of the weights (sync.allreduce) serves as sum and broadcast, with as many bytes; all ranks then move
//      their replicas alike.
//   3  as 2, and the exchange runs while the gradients are computed: it needs only the weights from before the step.
#pragma once

#include "engine/sync/exchanges.hpp"

namespace dt::engine {

class CentreExchange;

class SyncEasgd : public Strategy {
 public:
  // A recipe error for overlap 3 with elastic terms of the weights after the step. Collective.
  explicit SyncEasgd(const StrategyParts& parts);
  ~SyncEasgd() override;
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch: every rank has a model of its own.
  double step(Replica& replica, PhaseClock& clock) override;
  // Form 1: rank 0's is the centre, and the others' are read by nobody before rank 0's reaches them. Else all are equal.
  std::vector<StrategyState> state() override { return {{"centre", centre_, false}}; }
  bool replicated() const override { return false; }
  bool has_centre() const override { return true; }
  void read_centre(Replica& replica, std::span<float> centre) override;
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  class Poller;
  BatchLoss compute(Replica& replica, PhaseClock& clock);
  void begin_exchange(Replica& replica, PhaseClock& clock);
  void begin_allreduce(std::span<const float> weights);
  void end_exchange(PhaseClock& clock);
  void average(Replica& replica, PhaseClock& clock);
  void update(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  bool after_, beside_;
  std::vector<Stretch> messages_;
  std::vector<float> centre_, sum_;
  std::unique_ptr<CentreExchange> tree_; // form 1
  std::unique_ptr<Allreduce> allreduce_; // forms 2 and 3
  std::unique_ptr<Exchanges> exchanges_; // last: its thread uses the rest
};

} // namespace dt::engine
