// GradientSums: gradients summed over the ranks bucket by bucket, beside the backward pass or after it, and used as they arrive.
#pragma once

#include "engine/sync/exchanges.hpp"

#include <array>
#include <optional>

namespace dt::engine {

class GradientSums : private GradientListener {
 public:
  // Over all ranks of parts.comm with that allreduce; both must outlive it. Collective.
  GradientSums(const StrategyParts& parts, Allreduce& allreduce);

  // g^i <- gradient of the loss over this rank's batch; with poll and thread, sums begin as its buckets appear.
  BatchLoss compute(Replica& replica, PhaseClock& clock);
  // g <- sum_i g^i; W <- opt(W, g / P), bucket by bucket unless the replica wants them all at once. After compute(). Returns the mean loss over the samples of all ranks.
  double update(const BatchLoss& loss, Replica& replica, PhaseClock& clock);
  // Seconds of a step's sums alone, in a buffer of their own. Collective.
  double isolated_s(Replica& replica);
  // For Strategy::facts().
  std::vector<std::pair<std::string, std::string>> facts() const;

 private:
  void gradients_ready(const Stretch& tensor) override;
  void plan(Replica& replica);
  void begin_buckets(std::size_t end);
  void begin_last(const BatchLoss& loss);
  void wait_for(std::size_t bucket, PhaseClock& clock);
  void take_loss();
  void update_stretch(const Stretch& stretch, Replica& replica, PhaseClock& clock);
  double mean_loss(PhaseClock& clock);

  StrategyParts parts_;
  Allreduce& allreduce_;
  std::unique_ptr<Exchanges> exchanges_;
  std::vector<Stretch> buckets_;          // planned at the first step
  std::optional<std::size_t> loss_place_; // in the gradients: two floats of padding that travel with the last bucket
  std::array<double, 2> loss_sums_{};     // of loss x samples, of samples

  // of the step in progress
  std::span<float> gradients_;
  PhaseClock* clock_ = nullptr;
  std::size_t lowest_ = 0; // gradients from here on are final
  std::size_t begun_ = 0;  // buckets
};

} // namespace dt::engine
