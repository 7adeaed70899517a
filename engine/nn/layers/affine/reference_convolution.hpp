// ReferenceConvolution: the convolution as plain loops over plain arrays, correct for every shape. It is the baseline for the
// fast kernels, as in [Li2021].
#pragma once

#include "engine/nn/layers/affine/convolution.hpp"

namespace dt::nn {

class ReferenceConvolution final : public Convolution {
 public:
  using Convolution::Convolution;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  void forward_sample(std::int64_t sample) const;
  void weight_gradients_of(std::int64_t channel) const;
  void input_gradients_of(std::int64_t sample) const;
  dnnl::memory weights_, weight_gradients_, bias_, bias_gradients_; // biases may be empty
  dnnl::memory x_, y_, dy_, dx_;                                    // plain order
  std::int64_t batch_ = 0;
};

} // namespace dt::nn
