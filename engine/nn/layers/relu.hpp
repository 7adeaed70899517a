// ReLU: y = max(x, 0). Its backward pass reads y instead of x, so the forward pass can be fused into another layer.
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Relu final : public Layer {
 public:
  using Layer::Layer;
  // Marks that an earlier layer applies the ReLU, so the forward pass does nothing.
  void set_fused() { fused_ = true; }
  bool is_fused() const { return fused_; }
  void plan_forward(Plan& plan) override;
  // dL/dx = dL/dy where y > 0, otherwise 0. Works in place if no other layer reads dL/dy.
  void plan_backward(Plan& plan) override;

 private:
  bool fused_ = false;
};

} // namespace dt::nn
