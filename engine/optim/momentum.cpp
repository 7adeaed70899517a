#include "core/function_clones.hpp"
#include "engine/optim/rules.hpp"

namespace dt::optim {
namespace {

struct Factors {
  float rate, gradient, momentum, decay;
};

DT_CLONES void pass_over(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients,
                         std::int64_t size, Factors f)
{
  for (std::int64_t i = 0; i < size; ++i) {
    velocity[i] = f.momentum * velocity[i] + (f.gradient * gradients[i] + f.decay * weights[i]);
    weights[i] -= f.rate * velocity[i];
  }
}

DT_CLONES void pass_over_of_steps(float* __restrict weights, float* __restrict velocity, const float* __restrict gradients,
                                  std::int64_t size, Factors f)
{
  for (std::int64_t i = 0; i < size; ++i) {
    velocity[i] = f.momentum * velocity[i] - f.rate * (f.gradient * gradients[i] + f.decay * weights[i]);
    weights[i] += velocity[i];
  }
}

} // namespace

void Momentum::update(const Piece& piece, const Pass& pass)
{
  pass_over(pass.weights + piece.begin, velocity() + piece.begin, pass.gradients + piece.begin, piece.size(),
            {static_cast<float>(pass.learning_rate), pass.gradient_factor, momentum(), decay_of(piece.segment)});
}

void MomentumOfSteps::update(const Piece& piece, const Pass& pass)
{
  pass_over_of_steps(pass.weights + piece.begin, velocity() + piece.begin, pass.gradients + piece.begin, piece.size(),
                     {static_cast<float>(pass.learning_rate), pass.gradient_factor, momentum(), decay_of(piece.segment)});
}

} // namespace dt::optim
