#include "core/maths/function_clones.hpp"
#include "engine/optim/rules.hpp"

namespace dt::optim {
namespace {

struct Factors {
  float rate, gradient, momentum, decay;
};

DT_CLONES void pass_over(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients,
                         std::size_t size, Factors f)
{
  for (std::size_t i = 0; i < size; ++i) {
    velocity[i] = f.momentum * velocity[i] + (f.gradient * gradients[i] + f.decay * weights[i]);
    weights[i] -= f.rate * velocity[i];
  }
}

DT_CLONES void pass_over_of_steps(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients,
                                  std::size_t size, Factors f)
{
  for (std::size_t i = 0; i < size; ++i) {
    velocity[i] = f.momentum * velocity[i] - f.rate * (f.gradient * gradients[i] + f.decay * weights[i]);
    weights[i] += velocity[i];
  }
}

} // namespace

void Momentum::update(std::size_t segment, Range range, const Pass& pass)
{
  pass_over(pass.weights + range.begin, velocity() + range.begin, pass.gradients_of(range), range.size(),
            {static_cast<float>(pass.learning_rate), pass.gradient_factor, momentum(), decay_of(segment)});
}

void MomentumOfSteps::update(std::size_t segment, Range range, const Pass& pass)
{
  pass_over_of_steps(pass.weights + range.begin, velocity() + range.begin, pass.gradients_of(range), range.size(),
                     {static_cast<float>(pass.learning_rate), pass.gradient_factor, momentum(), decay_of(segment)});
}

} // namespace dt::optim
