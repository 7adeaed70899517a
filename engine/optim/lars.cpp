#include "engine/optim/rules.hpp"

#include <array>
#include <cmath>

namespace dt::engine {
namespace {

struct Factors {
  float rate, gradient, momentum, decay;
};

// Euclidean length. Sums in double, several at a time, in an order of their own: equal bits for equal numbers.
double norm(const float* values, std::int64_t size)
{
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const double value = values[i + lane];
      sums[static_cast<std::size_t>(lane)] += value * value;
    }
  for (; i < size; ++i) sums[0] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return std::sqrt(sum);
}

void update(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients, std::int64_t size,
            Factors f)
{
  for (std::int64_t i = 0; i < size; ++i) {
    velocity[i] = f.momentum * velocity[i] + f.rate * (f.gradient * gradients[i] + f.decay * weights[i]);
    weights[i] -= velocity[i];
  }
}

} // namespace

double lars_factor(double trust, double weight_norm, double gradient_norm, double weight_decay)
{
  if (weight_norm == 0 || gradient_norm == 0) return 1;
  return trust * weight_norm / (gradient_norm + weight_decay * weight_norm);
}

Lars::Lars(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments)
    : segments_(std::move(segments)), velocity_(static_cast<std::size_t>(size), 0.0F), trust_(spec.trust),
      momentum_(spec.momentum), weight_decay_(spec.weight_decay)
{
}

void Lars::step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part)
{
  for (const auto& segment : segments_) {
    if (!part.contains(segment)) continue;
    float* const w = weights.data() + segment.offset;
    const float* const g = gradients.data() + segment.offset;
    // lambda_l = trust |w_l| / (|g_l| + wd |w_l|)
    const double factor =
        segment.decay ? lars_factor(trust_, norm(w, segment.size), part.gradient_factor * norm(g, segment.size), weight_decay_) : 1;
    // v <- mu v + lr lambda_l (g + wd w); w <- w - v
    update(w, velocity_.data() + segment.offset, g, segment.size,
           {static_cast<float>(learning_rate * factor), part.gradient_factor, static_cast<float>(momentum_),
            static_cast<float>(segment.decay ? weight_decay_ : 0)});
  }
}

} // namespace dt::engine
