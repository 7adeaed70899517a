// Inner product with bias: y[o] = b[o] + sum over c, h, w of W[o][c][h][w] x[c][h][w].
#pragma once

#include "engine/nn/layers/affine/affine.hpp"

namespace dt::nn {

class InnerProduct : public Affine {
 public:
  InnerProduct(std::string name, Tensor input, Tensor output) : Affine(std::move(name), input, output, true) {}
  std::string kind() const override { return "inner product"; }

 protected:
  dnnl::memory::dims weight_dims() const override;
  // Call it before weight_dims() or plain_input().
  void set_source_dims(const Plan& plan);
  // The layout of the input that an inner product reads as features.
  dnnl::memory::desc plain_input(const Plan& plan) const;

 private:
  // Images are first copied to plain order and then treated as features: one small copy in each direction. Without it, oneDNN 2.6
  // copies all weights between layouts twice per step (AlexNet's fc6: 6 % of the step).
  dnnl::memory source(Plan& plan, std::vector<Operation>& operations) override;
  void give_input_gradient(Plan& plan, const dnnl::memory& gradient) override;
  bool is_flattened(const Plan& plan) const;
  dnnl::primitive_desc_base describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::primitive_desc_base describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::primitive_desc_base describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  std::int64_t weight_count() const override { return output().shape.channels * input().shape.size(); }
  dnnl::memory::desc any_source(const Plan& plan) const;
  dnnl::memory::desc any_destination(const Plan& plan) const;
  dnnl::memory::dims source_dims_;                                 // batch x features, or batch x features x 1 x 1
  dnnl::inner_product_forward::primitive_desc forward_descriptor_; // the backward descriptors need it
};

} // namespace dt::nn
