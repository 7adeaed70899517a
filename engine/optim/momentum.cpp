#include "engine/optim/rules.hpp"

namespace dt::engine {
namespace {

struct Factors {
  float rate, gradient, momentum, decay;
};

void update(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients, std::int64_t size,
            Factors f)
{
  for (std::int64_t i = 0; i < size; ++i) {
    velocity[i] = f.momentum * velocity[i] + (f.gradient * gradients[i] + f.decay * weights[i]);
    weights[i] -= f.rate * velocity[i];
  }
}

} // namespace

Momentum::Momentum(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments)
    : segments_(std::move(segments)), velocity_(static_cast<std::size_t>(size), 0.0F),
      momentum_(static_cast<float>(spec.momentum)), weight_decay_(static_cast<float>(spec.weight_decay))
{
}

void Momentum::step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part)
{
  for (const auto& segment : segments_) {
    if (!part.contains(segment)) continue;
    update(weights.data() + segment.offset, velocity_.data() + segment.offset, gradients.data() + segment.offset, segment.size,
           {static_cast<float>(learning_rate), part.gradient_factor, momentum_, segment.decay ? weight_decay_ : 0});
  }
}

} // namespace dt::engine
