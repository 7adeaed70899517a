// Convolution: y[o] = b[o] + sum over i, kh, kw of W[o][i][kh][kw] x[i][s h + kh - p][s w + kw - p].
#pragma once

#include "engine/nn/layers/affine/affine.hpp"

namespace dt::nn {

class Convolution : public Affine {
 public:
  explicit Convolution(const model::Layer& description);
  const ConvolutionSpec& spec() const { return description().as<ConvolutionSpec>(); }
  // The algorithms that plan_forward and plan_backward chose. backward_data is `direct` if no gradient of the input is computed.
  const LayerAlgorithms& planned() const { return planned_; }
  // The layouts of the activations that the forward pass prefers in this plan, whatever the plan's input has.
  struct Layouts {
    dnnl::memory::desc input, output;
  };
  Layouts preferred_layouts(const Plan& plan);

 protected:
  // The algorithms where the plan's options name none for this layer.
  virtual LayerAlgorithms rule() const; // direct sums
  // Those that the plan's options name for this layer, otherwise the rule's.
  LayerAlgorithms algorithms(const Plan& plan) const;
  dnnl::primitive_desc_base describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::memory::dims weight_dims() const override;
  void plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient) override;
  // Plans dL/db = sum over images and pixels of dL/dy. `gradient` is laid out in blocks of `block` channels. Without a bias it
  // plans nothing.
  void plan_bias_gradient(Plan& plan, const dnnl::memory& gradient, std::int64_t block);
  LayerAlgorithms planned_;

 private:
  dnnl::primitive_desc_base describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::primitive_desc_base describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::memory::dims strides_, padding_;
  dnnl::convolution_forward::primitive_desc forward_descriptor_; // the backward descriptors need it
};

} // namespace dt::nn
