// Max pooling over square windows; padding never wins. Rows and columns that fill no whole window are dropped.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

struct PoolingSpec {
  std::int64_t kernel = 2; // pixels of a side
  std::int64_t stride = 2;
  std::int64_t padding = 0; // less than kernel
};

class MaxPooling final : public Layer {
 public:
  MaxPooling(std::string name, Tensor input, Tensor output, const PoolingSpec& spec);
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  dnnl::memory::dims strides_, kernel_, padding_;
  dnnl::pooling_forward::primitive_desc forward_descriptor_;
  dnnl::memory workspace_; // which pixel won, from forward to backward
};

} // namespace dt::engine
