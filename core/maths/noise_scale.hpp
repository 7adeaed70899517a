// The gradient noise scale: the batch size at which the noise of a batch's mean gradient is as large as the gradient itself
// [McCandlish2018]. Much larger batches save few steps; much smaller ones cost few samples.
#pragma once

#include <limits>
#include <vector>

namespace dt {

// B_simple = tr(Sigma) / |G|^2: G is the true gradient, Sigma the covariance of the gradients of single samples. In samples, or
// in the unit of the batches that it was computed from.
struct NoiseScale {
  // NaN: not measured.
  double value = std::numeric_limits<double>::quiet_NaN();
  // Ends of the 95 % interval. `low` without `high`: the interval has no upper end, because the noise hides the gradient.
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;

  // The same in another unit.
  NoiseScale times(double factor) const { return {value * factor, low * factor, high * factor}; }
};

// Estimates the noise scale from the squared norms of gradients over small and large batches, step by step.
class NoiseScaleEstimator {
 public:
  // Samples of a small and of a large batch; small < large.
  NoiseScaleEstimator(double small, double large) : small_(small), large_(large) {}

  // small_square: |G_b|^2, the mean over the small batches that make up the large one. large_square: |G_B|^2 of their mean
  // gradient. A step whose squares are not finite is left out.
  void add(double small_square, double large_square);
  // Estimates the noise scale from all steps that were added. With fewer than 16 steps there is no interval.
  NoiseScale estimate() const;
  // The estimate over the steps since the call that last had enough of them, for a curve; NaN with fewer than 16.
  double recent();

 private:
  // Sums over consecutive steps. Each step gives unbiased estimates of the two parts of the ratio [McCandlish2018, eq. A.2].
  struct Block {
    double steps = 0, signal = 0, noise = 0; // |G|^2 and tr(Sigma)
  };
  static void take(Block& sum, const Block& block);

  double small_, large_;
  std::vector<Block> blocks_; // of block_steps_ steps each, but for the last one
  double block_steps_ = 1;
  Block recent_;
};

} // namespace dt
