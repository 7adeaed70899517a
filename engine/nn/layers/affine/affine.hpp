// Affine: common base of convolution and inner product: outputs = weights * input + bias, optionally max(., 0).
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Affine : public Layer {
 public:
  Affine(const model::Layer& description, bool bias) : Layer(description), bias_(bias) {}
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

  // Ends the forward pass with a ReLU.
  void fuse_relu() { relu_ = feeds_relu_ = true; }
  bool has_relu() const { return relu_; } // whether it is fused
  // Marks that a ReLU follows, directly or later. This determines the range of the initial weights.
  void set_feeds_relu() { feeds_relu_ = true; }

 protected:
  // source(), output_gradient(): the input, and the gradient of the output, in the form that the primitives read.
  // give_output(), give_input_gradient(): store what the primitives compute as the layer's output, and as its input's gradient.
  virtual dnnl::memory source(Plan& plan, std::vector<Operation>& operations);
  virtual dnnl::memory output_gradient(Plan& plan, std::vector<Operation>& operations);
  virtual void give_output(Plan& plan, const dnnl::memory& result);
  virtual void give_input_gradient(Plan& plan, const dnnl::memory& gradient);
  // The three primitives; the library selects all layouts. Without bias, bias_desc() is empty.
  virtual dnnl::primitive_desc_base describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes) = 0;
  virtual dnnl::primitive_desc_base describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes) = 0;
  virtual dnnl::primitive_desc_base describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes) = 0;
  virtual dnnl::memory::dims weight_dims() const = 0; // outputs first; with groups: groups, then the outputs of one group
  std::int64_t weight_count() const { return description().weights(); }
  dnnl::memory::desc any_weights(dnnl::memory::data_type type) const;
  dnnl::memory::desc bias_desc() const;
  bool has_bias() const { return bias_; }
  ParameterShape weight_shape() const;
  ParameterShape bias_shape() const;
  const StoredParameter& weight(const Plan& plan) const { return plan.stored(parameters_[0]); }
  const StoredParameter& bias(const Plan& plan) const { return plan.stored(parameters_[1]); }
  void declare(Plan& plan, const dnnl::memory::desc& weights);
  double batch_flops(const Plan& plan) const { return description().flops() * static_cast<double>(plan.options().batch); }
  virtual void plan_backward_data(Plan& plan, const dnnl::memory& output_gradient);
  virtual void plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient);
  dnnl::memory source_; // what source() gave the forward pass

 private:
  bool bias_, relu_ = false, feeds_relu_ = false;
};

} // namespace dt::nn
