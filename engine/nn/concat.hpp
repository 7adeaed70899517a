// Concat: the channels of several tensors behind one another.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

class Concat final : public Layer {
 public:
  using Layer::Layer;
  std::string kind() const override { return "concat"; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  // In a layout in which the channels of every part lie behind one another as they are, none shares a block with another part's.
  dnnl::memory::desc common_layout(const Plan& plan) const;
  dnnl::memory whole_;
};

} // namespace dt::engine
