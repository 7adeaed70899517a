// Add: y = a + b. Both inputs get y's gradient.
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Add final : public Layer {
 public:
  Add(std::string name, Tensor a, Tensor b, Tensor output) : Layer(std::move(name), {a, b}, output) {}
  std::string kind() const override { return "add"; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;
};

} // namespace dt::nn
