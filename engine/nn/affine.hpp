// Affine: what convolution and inner product have in common: outputs = weights * input + bias, optionally max(., 0).
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

class Affine : public Layer {
 public:
  using Layer::Layer;
  void plan_forward(Plan& plan) final;
  void plan_backward(Plan& plan) final;
  bool fuse_relu() final { return relu_ = true; }

 protected:
  // The three primitives, every layout left to the library.
  virtual dnnl::primitive_desc describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes) = 0;
  virtual dnnl::primitive_desc describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes) = 0;
  virtual dnnl::primitive_desc describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes) = 0;
  virtual dnnl::memory::dims weight_dims() const = 0; // outputs first
  dnnl::memory::desc any_weights() const;
  dnnl::memory::desc bias_desc() const;

 private:
  void plan_backward_data(Plan& plan);
  void plan_backward_weights(Plan& plan);
  bool relu_ = false;
  ParameterId weight_ = 0, bias_ = 0;
};

} // namespace dt::engine
