// Add: y = a + b. Both inputs get y's gradient.
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Add final : public Layer {
 public:
  using Layer::Layer;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;
};

} // namespace dt::nn
