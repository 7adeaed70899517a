// Softmax and cross-entropy: L = -(1/N) sum over samples of log p[label], p = softmax(logits).
#pragma once

#include "engine/nn/layer.hpp"

#include <cstdint>
#include <span>

namespace dt::engine {

class SoftmaxCrossEntropy {
 public:
  // Plans to read data(logits), batch x classes; for training also sets gradient(logits).
  SoftmaxCrossEntropy(Plan& plan, Tensor logits);

  // Mean loss of the batch; fills the gradient of the logits, (p - 1[label]) / N. An internal error for a label outside the
  // classes.
  double mean_loss(const dnnl::stream& stream, std::span<const std::int32_t> labels);
  // Samples with label -1 are left out.
  Evaluation evaluate(const dnnl::stream& stream, std::span<const std::int32_t> labels);

 private:
  std::span<const float> logits_of(std::size_t sample) const;
  std::size_t classes_;
  std::vector<Operation> forward_; // into a plain layout
  dnnl::memory logits_, gradient_;
};

} // namespace dt::engine
