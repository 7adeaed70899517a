// Dropout: in training, sets each number to zero with probability `rate` and divides the others by 1 - rate. An evaluation keeps
// all numbers.
#pragma once

#include "engine/nn/kernels/elementwise.hpp"
#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Dropout final : public Layer {
 public:
  // `place` distinguishes the dropout layers of a model.
  Dropout(const model::Layer& description, std::uint64_t place)
      : Layer(description), rate_(description.as<model::DropoutSpec>().rate), place_(place)
  {
  }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  DropoutDraws draws(Plan& plan) const;
  double rate_;
  std::uint64_t place_;
};

} // namespace dt::nn
