// ReLU: y = max(x, 0). Its backward reads y, not x, so that its forward may be part of another layer.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

class Relu final : public Layer {
 public:
  // `fused`: an earlier layer has applied it to the input already, so forward has nothing to do.
  Relu(std::string name, Tensor input, Tensor output, bool fused) : Layer(std::move(name), input, output), fused_(fused) {}
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  bool fused_;
};

} // namespace dt::engine
