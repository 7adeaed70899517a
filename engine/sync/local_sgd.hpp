// `local-sgd`: every rank steps on its own, and every tau steps the ranks take the mean of their weights. Post-local SGD: plain
// sync-sgd for the first epochs (Stich: Local SGD Converges Fast and Communicates Little; Lin et al.: Don't Use Large Mini-Batches,
// Use Local SGD).
//
// What the update rule keeps (a velocity) stays each rank's own and is not averaged.
#pragma once

#include "engine/sync/gradient_sums.hpp"

namespace dt::engine {

class LocalSgd : public Strategy {
public:
  // A recipe error for a wire format that would round the weights.
  explicit LocalSgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch; of all ranks' in the epochs of sync-sgd.
  double step(Replica& replica, PhaseClock& clock) override;
  bool replicated() const override { return false; }
  // Of a step after sync.local_start.
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_.facts(); }

private:
  void average(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  std::unique_ptr<Allreduce> allreduce_;
  GradientSums sums_;
  std::vector<Stretch> messages_; // of weights, summed one after another
};

} // namespace dt::engine
