#include "core/maths/function_clones.hpp"
#include "engine/optim/rules.hpp"

namespace dt::optim {
namespace {

struct Factors {
  float rate, gradient, decay;
};

DT_CLONES void pass_over(float* __restrict weights, const float* __restrict gradients, std::size_t size, Factors f)
{
  for (std::size_t i = 0; i < size; ++i) weights[i] -= f.rate * (f.gradient * gradients[i] + f.decay * weights[i]);
}

} // namespace

void Sgd::update(std::size_t segment, Range range, const Pass& pass)
{
  pass_over(pass.weights + range.begin, pass.gradients_of(range), range.size(),
            {static_cast<float>(pass.learning_rate), pass.gradient_factor, decay_of(segment)});
}

} // namespace dt::optim
