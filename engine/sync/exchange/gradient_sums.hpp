// GradientSums: sums gradients over the ranks bucket by bucket, during the backward pass or after it, and updates weights as sums
// arrive.
#pragma once

#include "engine/sync/exchange/exchanges.hpp"
#include "engine/sync/exchange/gradient_noise.hpp"

#include <array>
#include <optional>

namespace dt::sync {

class GradientSums : private GradientListener {
 public:
  // Sums over all ranks of parts.comm. Communicator and allreduce must outlive this object. Collective.
  GradientSums(const StrategyParts& parts, comm::Allreduce& allreduce);

  // g^i <- gradient of the loss over this rank's batch. With poll and thread, sums begin as soon as their buckets are complete.
  BatchLoss compute(Replica& replica, PhaseClock& clock);
  // g <- sum_i g^i; W <- opt(W, g / P). Works bucket by bucket, unless an update needs all gradients at once. Call it after
  // compute(). Returns the mean loss over the samples of all ranks; of this rank's batch where a device sums, which nothing waits
  // for. Ranks that share one copy of the weights (StrategyParts::node_slices) sum and update in one pass after the computation,
  // each its slice.
  double update(const BatchLoss& loss, Replica& replica, PhaseClock& clock);
  // Seconds of one step's sums alone, measured in a separate buffer. Collective.
  double isolated_s(Replica& replica);
  // For Strategy::begin_measuring() and Strategy::buckets().
  void begin_measuring();
  std::vector<BucketRecord> buckets() const;
  // For Strategy::noise().
  GradientNoise& noise() { return noise_; }
  // For Strategy::facts().
  std::vector<std::pair<std::string, std::string>> facts() const;

 private:
  void gradients_ready(Range tensor) override;
  void plan(Replica& replica);
  void begin_buckets(std::size_t end);
  std::size_t figures() const { return noise_.measures() ? 3 : 2; }
  bool sums_loss() const { return parts_.comm.size() > 1 && !gradients_.can_sum_on_device(); }
  void write_figures();
  void note_ready();
  void computed();
  void begin_last(const BatchLoss& loss);
  void wait_for(std::size_t bucket, PhaseClock& clock);
  void take_loss();
  void update_range(Range range, Replica& replica, PhaseClock& clock);
  double mean_loss(PhaseClock& clock);

  StrategyParts parts_;
  comm::Allreduce& allreduce_;
  std::unique_ptr<Exchanges> exchanges_;
  std::vector<Range> buckets_; // planned at the first step
  GradientNoise noise_;
  std::optional<std::size_t> loss_place_; // position in the gradients: floats of padding that are sent with the last bucket
  std::array<double, 3> loss_sums_{};     // sums of (loss x samples), of samples and, if it is measured, of GradientNoise::own()

  // Sums over the measured steps, in seconds: of each bucket, the time until it was complete; and the time of the computation.
  std::vector<double> ready_s_;
  double computed_s_ = 0;
  std::int64_t measured_steps_ = 0;

  // State of the current step.
  Vector gradients_{std::span<float>()};
  PhaseClock* clock_ = nullptr;
  std::size_t lowest_ = 0; // gradients from this position on are final
  std::size_t begun_ = 0;  // number of buckets whose sums have begun
  double begin_s_ = 0;     // when the computation began, on the clock monotonic_s()
};

} // namespace dt::sync
