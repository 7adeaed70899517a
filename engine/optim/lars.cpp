#include "core/maths/function_clones.hpp"
#include "engine/optim/passes.hpp"
#include "engine/optim/rules.hpp"

#include <cmath>

namespace dt::optim {
namespace {

struct Factors {
  float rate, gradient, momentum, decay;
};

DT_CLONES void pass_over(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients,
                         std::size_t size, Factors f)
{
  for (std::size_t i = 0; i < size; ++i) {
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

Lars::Lars(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments)
    : VelocityRule(spec, size, std::move(segments)), trust_(spec.trust), factors_(this->segments().size(), 1)
{
}

// lambda_l = trust |w_l| / (|g_l| + wd |w_l|)
void Lars::prepare(std::size_t segment, const Pass& pass)
{
  const auto& [range, decay, own_rate, statistic] = segments()[segment];
  if (!own_rate) return;
  const double weight_norm = std::sqrt(sum_of_squares(pass.weights + range.begin, range.size()));
  const double gradient_norm = std::sqrt(sum_of_squares(pass.gradients_of(range), range.size()));
  factors_[segment] = lars_factor(trust_, weight_norm, pass.gradient_factor * gradient_norm, decay_of(segment));
}

// v <- mu v + lr lambda_l (g + wd w); w <- w - v
void Lars::update(std::size_t segment, Range range, const Pass& pass)
{
  pass_over(pass.weights + range.begin, velocity() + range.begin, pass.gradients_of(range), range.size(),
            {static_cast<float>(pass.learning_rate * factors_[segment]), pass.gradient_factor, momentum(), decay_of(segment)});
}

} // namespace dt::optim
