// ReferenceConvolution: the convolution as its formula says, in plain loops over plain arrays. What the fast ones are measured
// against (swFLOW's baseline), and right for every shape.
#pragma once

#include "engine/nn/convolution.hpp"

namespace dt::engine {

class ReferenceConvolution final : public Convolution {
 public:
  using Convolution::Convolution;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  void forward_sample(std::int64_t sample) const;
  void weight_gradients_of(std::int64_t channel) const;
  void input_gradients_of(std::int64_t sample) const;
  dnnl::memory weights_, weight_gradients_, bias_, bias_gradients_; // biases may be none
  dnnl::memory x_, y_, dy_, dx_;                                     // plain order
  std::int64_t batch_ = 0;
};

} // namespace dt::engine
