#include "engine/optim/rules.hpp"

namespace dt::engine {
namespace {

void update(float* __restrict weights, const float* __restrict gradients, std::int64_t size, float rate, float decay)
{
  for (std::int64_t i = 0; i < size; ++i) weights[i] -= rate * (gradients[i] + decay * weights[i]);
}

} // namespace

Sgd::Sgd(const OptimizerSpec& spec, std::vector<Segment> segments)
    : segments_(std::move(segments)), weight_decay_(static_cast<float>(spec.weight_decay))
{
}

void Sgd::step(std::span<float> weights, std::span<const float> gradients, double learning_rate, std::int64_t begin,
               std::int64_t end)
{
  for (const auto& segment : segments_) {
    if (segment.offset < begin || segment.offset >= end) continue;
    update(weights.data() + segment.offset, gradients.data() + segment.offset, segment.size, static_cast<float>(learning_rate),
           segment.decay ? weight_decay_ : 0);
  }
}

} // namespace dt::engine
