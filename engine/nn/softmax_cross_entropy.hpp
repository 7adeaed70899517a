// Softmax and cross-entropy with label smoothing (Szegedy et al. 2016, section 7): L = -(1/N) sum over samples of
// sum over c of q[c] log p[c], p = softmax(logits), q = (1 - s) 1[label] + s / classes.
#pragma once

#include "engine/nn/layer.hpp"

#include <cstdint>
#include <span>

namespace dt::engine {

class SoftmaxCrossEntropy {
 public:
  // Plans to read data(logits), batch x classes; for training also adds to the gradient of the logits, `weight` times the loss's.
  SoftmaxCrossEntropy(Plan& plan, Tensor logits, double weight);

  // Into a plain layout; then the loss is taken.
  std::vector<Operation>& forward() { return forward_; }
  // What is done with the logits, to be planned as an operation; `labels` must be set before it runs.
  std::vector<Operation>& loss() { return loss_; }

  // Of the next passes. An internal error, before anything is computed, for a label outside the classes; -1 is padding.
  void set_labels(std::span<const std::int32_t> labels, bool may_be_padded);
  // Of the last pass: the weighted mean loss of the batch, without the loss scale.
  double weighted_loss() const { return weighted_loss_; }
  // From the logits of the last pass; samples with label -1 are left out.
  Evaluation evaluate() const;

 private:
  std::span<const float> logits_of(std::size_t sample) const;
  void take_loss();
  double take_loss_of(std::size_t sample, float* gradient);
  std::size_t classes_;
  double weight_, smoothing_;
  const PassState* state_;
  std::vector<Operation> forward_, loss_;
  dnnl::memory logits_, gradient_;
  std::span<const std::int32_t> labels_;
  std::vector<double> losses_; // by sample
  double weighted_loss_ = 0;
};

} // namespace dt::engine
