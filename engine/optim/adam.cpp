#include "core/maths/function_clones.hpp"
#include "engine/optim/rules.hpp"

#include <cmath>

namespace dt::optim {
namespace {

// rate: lr / (1 - b1^t); root: 1 / sqrt(1 - b2^t); decay: wd in the gradient; shrink: lr wd beside it.
struct Factors {
  float rate, root, epsilon, gradient, decay, shrink, keep_mean, take_mean, keep_square, take_square;
};

DT_CLONES void pass_over(float* __restrict weights, float* __restrict mean, float* __restrict square,
                         const float* __restrict gradients, std::size_t size, Factors f)
{
  for (std::size_t i = 0; i < size; ++i) {
    const float decayed = f.gradient * gradients[i] + f.decay * weights[i];
    mean[i] = f.keep_mean * mean[i] + f.take_mean * decayed;
    square[i] = f.keep_square * square[i] + f.take_square * decayed * decayed;
    weights[i] = weights[i] - f.shrink * weights[i] - f.rate * mean[i] / (f.root * std::sqrt(square[i]) + f.epsilon);
  }
}

} // namespace

Adam::Adam(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments, bool is_decoupled)
    : Rule(spec, size, std::move(segments)), beta1_(spec.beta1), beta2_(spec.beta2), epsilon_(spec.epsilon),
      is_decoupled_(is_decoupled), mean_(size), square_(size), updates_(this->segments().size(), 0.0F)
{
}

void Adam::prepare(std::size_t segment, const Pass& /*pass*/) { updates_[segment] += 1; }

void Adam::update(std::size_t segment, Range range, const Pass& pass)
{
  const double t = updates_[segment];
  const double rate = pass.learning_rate / (1 - std::pow(beta1_, t)), root = 1 / std::sqrt(1 - std::pow(beta2_, t));
  const float decay = decay_of(segment);
  const auto shrink = static_cast<float>(pass.learning_rate * static_cast<double>(decay));
  pass_over(pass.weights + range.begin, mean_.data() + range.begin, square_.data() + range.begin, pass.gradients_of(range),
            range.size(),
            {static_cast<float>(rate), static_cast<float>(root), static_cast<float>(epsilon_), pass.gradient_factor,
             is_decoupled_ ? 0 : decay, is_decoupled_ ? shrink : 0, static_cast<float>(beta1_), static_cast<float>(1 - beta1_),
             static_cast<float>(beta2_), static_cast<float>(1 - beta2_)});
}

} // namespace dt::optim
