// Pooling over windows: the largest, or the mean of what is no padding.
#pragma once

#include "engine/nn/layer.hpp"

namespace dt::engine {

struct PoolingSpec {
  std::int64_t kernel = 2; // pixels of a side
  std::int64_t stride = 2;
  std::int64_t padding = 0; // less than kernel; never wins, never counts
  bool ceil = false;        // a window that begins inside counts though it ends outside; else such rows and columns are dropped
};

class Pooling final : public Layer {
 public:
  enum class Rule { max, average };
  Pooling(Rule rule, std::string name, Tensor input, Tensor output, const PoolingSpec& spec);
  // Over the whole image.
  Pooling(Rule rule, std::string name, Tensor input, Tensor output);
  std::string kind() const override { return rule_ == Rule::max ? "max pooling" : "average pooling"; }
  Rule rule() const { return rule_; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  dnnl::algorithm algorithm() const;
  Rule rule_;
  dnnl::memory::dims strides_, kernel_, padding_, padding_behind_;
  dnnl::pooling_forward::primitive_desc forward_descriptor_;
  dnnl::memory workspace_; // which pixel won, from forward to backward
};

} // namespace dt::engine
