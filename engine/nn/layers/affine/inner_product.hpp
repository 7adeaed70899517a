// Inner product with bias: y[o] = b[o] + sum over c, h, w of W[o][c][h][w] x[c][h][w].
#pragma once

#include "engine/nn/layers/affine/affine.hpp"

namespace dt::nn {

class InnerProduct : public Affine {
 public:
  explicit InnerProduct(const model::Layer& description) : Affine(description, true) {}

 protected:
  // Images are first brought to plain order and then treated as features: one small copy in each direction. Without it, oneDNN
  // 2.6 copies all weights between layouts twice per step (AlexNet's fc6: 6 % of the step). What later layers see of the output
  // is an image of one pixel.
  dnnl::memory source(Plan& plan, std::vector<Operation>& operations) override;
  dnnl::memory output_gradient(Plan& plan, std::vector<Operation>& operations) override;
  void give_output(Plan& plan, const dnnl::memory& result) override;
  void give_input_gradient(Plan& plan, const dnnl::memory& gradient) override;
  dnnl::memory::dims weight_dims() const override;
  // A batch as batch x features.
  dnnl::memory::desc features(const Plan& plan, const Shape& shape) const;

 private:
  dnnl::memory in_plain_order(Plan& plan, const dnnl::memory& memory, const Shape& shape,
                              std::vector<Operation>& operations) const;
  dnnl::primitive_desc_base describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::primitive_desc_base describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::primitive_desc_base describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes) override;
  dnnl::memory::desc any_source(const Plan& plan) const;
  dnnl::memory::desc any_destination(const Plan& plan) const;
  dnnl::inner_product_forward::primitive_desc forward_descriptor_; // the backward descriptors need it
};

} // namespace dt::nn
