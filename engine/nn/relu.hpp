// ReLU: y = max(x, 0). Its backward reads y, not x, so that its forward may be part of another layer.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

class Relu final : public Layer {
 public:
  // `fused`: an earlier layer has applied it to the input already, so forward has nothing to do.
  Relu(std::string name, Tensor input, Tensor output, bool fused) : Layer(std::move(name), input, output), fused_(fused) {}
  bool fused() const { return fused_; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;
  // dL/dx = dL/dy where y > 0, else 0; in place. oneDNN's own pass takes twice as long (LeNet, batch 64).
  void backward(const dnnl::stream& stream, const GradientReady& ready) override;

 private:
  bool fused_;
  dnnl::memory result_, gradient_; // equal layouts
};

} // namespace dt::engine
