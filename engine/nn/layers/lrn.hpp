// Local response normalisation across channels [Krizhevsky2012, section 3.3]:
//   y[c] = x[c] / (k + alpha / size * sum over the size channels around c of x^2)^beta
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

struct LrnSpec {
  std::int64_t size = 5; // channels
  double alpha = 1e-4;   // as in PyTorch and Caffe, divided by size; the paper's alpha is ours / size
  double beta = 0.75;
  double k = 1;
};

class Lrn final : public Layer {
 public:
  Lrn(std::string name, Tensor input, Tensor output, const LrnSpec& spec) : Layer(std::move(name), {input}, output), spec_(spec)
  {
  }
  std::string kind() const override { return "local response norm"; }
  LayerAttributes attributes() const override
  {
    return {{"size", spec_.size}, {"alpha", spec_.alpha}, {"beta", spec_.beta}, {"k", spec_.k}};
  }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  LrnSpec spec_;
  dnnl::lrn_forward::primitive_desc forward_descriptor_;
  dnnl::memory source_, workspace_;
};

} // namespace dt::nn
