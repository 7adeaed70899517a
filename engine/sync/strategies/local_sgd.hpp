// `local-sgd`: every rank makes its own steps, and every tau steps the ranks average their weights. With sync.local_start it runs
// sync-sgd for the first epochs (post-local SGD). [Stich2019] [Lin2020]
//
// State of the update rule (a velocity) is kept on each rank and not averaged.
#pragma once

#include "engine/sync/exchange/gradient_sums.hpp"

namespace dt::sync {

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

} // namespace dt::sync
