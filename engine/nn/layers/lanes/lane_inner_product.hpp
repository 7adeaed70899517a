// LaneInnerProduct: the inner product in image lanes. Its weights lie in blocks of sixteen outputs.
#pragma once

#include "engine/nn/kernels/lanes/lane_products.hpp"
#include "engine/nn/layers/affine/inner_product.hpp"

namespace dt::nn {

class LaneInnerProduct final : public InnerProduct {
 public:
  using InnerProduct::InnerProduct;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  void plan_backward_weights(Plan& plan, const dnnl::memory& gradient);
  void plan_backward_data(Plan& plan, const dnnl::memory& gradient);
  dnnl::memory::desc lane_weights() const;
  std::int64_t features() const { return input().shape.size(); }
  std::int64_t outputs() const { return output().shape.channels; }
  std::int64_t blocks() const { return (outputs() + image_lanes - 1) / image_lanes; }
  Terms forward_terms_, input_terms_, weight_terms_;
  dnnl::memory source_;
  InstructionSet set_ = best_instruction_set();
};

} // namespace dt::nn
