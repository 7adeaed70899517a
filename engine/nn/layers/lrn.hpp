// Local response normalisation across channels [Krizhevsky2012, section 3.3]:
//   y[c] = x[c] / (k + alpha / size * sum over the size channels around c of x^2)^beta
#pragma once

#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Lrn final : public Layer {
 public:
  using Layer::Layer;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  const model::LrnSpec& spec() const { return description().as<model::LrnSpec>(); }
  dnnl::lrn_forward::primitive_desc forward_descriptor_;
  dnnl::memory source_, workspace_;
};

} // namespace dt::nn
