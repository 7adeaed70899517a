// Concat: joins the channels of several tensors, one tensor after another.
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Concat final : public Layer {
 public:
  using Layer::Layer;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  // A layout in which each part's channels are contiguous and no block contains channels of two parts.
  dnnl::memory::desc common_layout(const Plan& plan) const;
  dnnl::memory whole_;
};

} // namespace dt::nn
