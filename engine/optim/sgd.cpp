#include "engine/optim/rules.hpp"

namespace dt::engine {
namespace {

struct Factors {
  float rate, gradient, decay;
};

void update(float* __restrict weights, const float* __restrict gradients, std::int64_t size, Factors f)
{
  for (std::int64_t i = 0; i < size; ++i) weights[i] -= f.rate * (f.gradient * gradients[i] + f.decay * weights[i]);
}

} // namespace

Sgd::Sgd(const OptimizerSpec& spec, std::vector<Segment> segments)
    : segments_(std::move(segments)), weight_decay_(static_cast<float>(spec.weight_decay))
{
}

void Sgd::step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part)
{
  for (const auto& segment : segments_) {
    if (!part.contains(segment)) continue;
    update(weights.data() + segment.offset, gradients.data() + segment.offset, segment.size,
           {static_cast<float>(learning_rate), part.gradient_factor, segment.decay ? weight_decay_ : 0});
  }
}

} // namespace dt::engine
