// Dropout: each number of a training pass is zero with probability `rate`, else divided by 1 - rate. An evaluation keeps all.
#pragma once

#include "engine/nn/elementwise.hpp"
#include "engine/nn/layer.hpp"

namespace dt::engine {

class Dropout final : public Layer {
 public:
  // `place` tells the dropout layers of a model apart.
  Dropout(std::string name, Tensor input, Tensor output, double rate, std::uint64_t place)
      : Layer(std::move(name), {input}, output), rate_(rate), place_(place)
  {
  }
  std::string kind() const override { return "dropout"; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  DropoutDraws draws(Plan& plan) const;
  double rate_;
  std::uint64_t place_;
};

} // namespace dt::engine
