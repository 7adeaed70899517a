// Add: y = a + b. Both have y's gradient.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

class Add final : public Layer {
 public:
  Add(std::string name, Tensor a, Tensor b, Tensor output) : Layer(std::move(name), {a, b}, output) {}
  std::string kind() const override { return "add"; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;
};

} // namespace dt::engine
