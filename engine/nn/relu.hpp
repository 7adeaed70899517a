// ReLU: y = max(x, 0). Its backward reads y, not x, so that its forward may be part of another layer.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

class Relu final : public Layer {
 public:
  Relu(std::string name, Tensor input, Tensor output) : Layer(std::move(name), {input}, output) {}
  std::string kind() const override { return "relu"; }
  // An earlier layer applies it, so forward has nothing to do.
  void set_fused() { fused_ = true; }
  bool is_fused() const { return fused_; }
  void plan_forward(Plan& plan) override;
  // dL/dx = dL/dy where y > 0, else 0; in place where nobody else reads dL/dy.
  void plan_backward(Plan& plan) override;

 private:
  bool fused_ = false;
};

} // namespace dt::engine
