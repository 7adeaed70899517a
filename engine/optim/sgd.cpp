#include "core/function_clones.hpp"
#include "engine/optim/rules.hpp"

namespace dt::optim {
namespace {

struct Factors {
  float rate, gradient, decay;
};

DT_CLONES void pass_over(float* __restrict weights, const float* __restrict gradients, std::int64_t size, Factors f)
{
  for (std::int64_t i = 0; i < size; ++i) weights[i] -= f.rate * (f.gradient * gradients[i] + f.decay * weights[i]);
}

} // namespace

void Sgd::update(const Piece& piece, const Pass& pass)
{
  pass_over(pass.weights + piece.begin, pass.gradients + piece.begin, piece.size(),
            {static_cast<float>(pass.learning_rate), pass.gradient_factor, decay_of(piece.segment)});
}

} // namespace dt::optim
