// Softmax and cross-entropy with label smoothing [Szegedy2016, section 7]: L = -(1/N) sum over samples of sum over c of q[c] log
// p[c], p = softmax(logits), q = (1 - s) 1[label] + s / classes.
#pragma once

#include "engine/nn/layers/layer.hpp"

#include <cstdint>
#include <span>

namespace dt::nn {

class SoftmaxCrossEntropy {
 public:
  // Plans to read data(logits), batch x classes. For training it also adds `weight` times the loss's gradient to the gradient of
  // the logits.
  SoftmaxCrossEntropy(Plan& plan, Tensor logits, double weight);

  // Operations that bring the logits into a plain layout; the loss comes after them.
  std::vector<Operation>& forward() { return forward_; }
  // The operation that computes the loss from the logits. set_labels() must be called before it runs.
  std::vector<Operation>& loss() { return loss_; }

  // Sets the labels of the next passes. Throws an internal error, before anything is computed, for a label outside the classes;
  // -1 (padding) is allowed if may_be_padded.
  void set_labels(std::span<const std::int32_t> labels, bool may_be_padded);
  // Weighted mean loss of the last batch, without the loss scale.
  double weighted_loss() const { return weighted_loss_; }
  // Evaluates the logits of the last pass; samples with label -1 are left out.
  Evaluation evaluate() const;
  // Those of the last pass: batch x classes.
  std::span<const float> logits() const { return {logits_of(0).data(), losses_.size() * classes_}; }

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
  std::vector<double> losses_; // per sample
  double weighted_loss_ = 0;
};

} // namespace dt::nn
