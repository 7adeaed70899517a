#include "core/maths/noise_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dt {
namespace {

constexpr std::size_t fewest_blocks = 16, most_blocks = 64; // fewest: of an interval
constexpr double fewest_steps = 16;                         // of a point of the curve

// The 97.5 % quantile of Student's t: the first terms of its expansion around the normal quantile, exact to 0.001 from 15 degrees
// of freedom on.
double student_t(double freedom)
{
  constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

// The numbers that y / x may be: the solutions of (y - r x)^2 <= yy - 2 r xy + r^2 xx [Fieller1954], of which none is negative.
// xx, yy, xy: variances and covariance of x and y, times the squared quantile.
std::array<double, 2> ratio_interval(double x, double y, double xx, double yy, double xy)
{
  const double a = x * x - xx, b = x * y - xy, c = y * y - yy, root = std::sqrt(std::max(0.0, b * b - a * c));
  if (a > 0) return {std::max(0.0, (b - root) / a), std::max(0.0, (b + root) / a)};
  // x may be 0: no ratio is too large.
  return {c > 0 && y > 0 && a < 0 ? (b - root) / a : 0.0, NoiseScale{}.high};
}

} // namespace

void NoiseScaleEstimator::take(Block& sum, const Block& block)
{
  sum.steps += block.steps;
  sum.signal += block.signal;
  sum.noise += block.noise;
}

void NoiseScaleEstimator::add(double small_square, double large_square)
{
  if (!std::isfinite(small_square) || !std::isfinite(large_square)) return;
  // |G|^2 ~ (B |G_B|^2 - b |G_b|^2) / (B - b)
  const double signal = (large_ * large_square - small_ * small_square) / (large_ - small_);
  // tr(Sigma) ~ (|G_b|^2 - |G_B|^2) / (1/b - 1/B)
  const double noise = (small_square - large_square) / (1 / small_ - 1 / large_);
  if (blocks_.empty() || blocks_.back().steps == block_steps_) {
    if (blocks_.size() == most_blocks) {
      for (std::size_t i = 0; i < most_blocks / 2; ++i) {
        blocks_[i] = blocks_[2 * i];
        take(blocks_[i], blocks_[2 * i + 1]);
      }
      blocks_.resize(most_blocks / 2);
      block_steps_ *= 2;
    }
    blocks_.emplace_back();
  }
  take(blocks_.back(), {1, signal, noise});
  take(recent_, {1, signal, noise});
}

double NoiseScaleEstimator::recent()
{
  if (recent_.steps < fewest_steps) return NoiseScale().value;
  const auto [steps, signal, noise] = std::exchange(recent_, {});
  return signal > 0 ? std::max(0.0, noise / signal) : NoiseScale().value;
}

// The ratio of two means over steps: the mean of the steps' ratios would be biased. Blocks of steps are as good as independent,
// where neighbouring steps may not be.
NoiseScale NoiseScaleEstimator::estimate() const
{
  Block all;
  for (const auto& block : blocks_) take(all, block);
  if (all.steps == 0) return {};
  const double x = all.signal / all.steps, y = all.noise / all.steps;
  NoiseScale found;
  if (x > 0) found.value = std::max(0.0, y / x);
  const auto count = static_cast<double>(blocks_.size());
  if (blocks_.size() < fewest_blocks) return found;
  double xx = 0, yy = 0, xy = 0;
  for (const auto& block : blocks_) {
    const double dx = block.signal - x * block.steps, dy = block.noise - y * block.steps;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  // Variances of the two means, times t^2.
  const double t = student_t(count - 1), factor = t * t * count / (count - 1) / (all.steps * all.steps);
  const auto [low, high] = ratio_interval(x, y, factor * xx, factor * yy, factor * xy);
  found.low = low;
  found.high = high;
  return found;
}

} // namespace dt
