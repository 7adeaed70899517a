// Pooling over windows: the maximum, or the mean of the pixels that are not padding. The maximum of activations whose channels
// lie in blocks, or last, is computed by kernels of our own (engine/nn/kernels/max_pooling.hpp); all else by oneDNN's primitives.
#pragma once

#include "engine/nn/kernels/channel_view.hpp"
#include "engine/nn/kernels/max_pooling.hpp"
#include "engine/nn/layers/layer.hpp"

namespace dt::nn {

class Pooling : public Layer {
 public:
  explicit Pooling(const model::Layer& description);
  const PoolingSpec& spec() const { return description().as<PoolingSpec>(); }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  dnnl::algorithm algorithm() const;
  bool has_planes(const dnnl::memory& source) const;
  PlaneWindows windows(const dnnl::memory::desc& layout) const;
  void plan_planes_forward(Plan& plan, const dnnl::memory& source);
  void plan_planes_backward(Plan& plan);
  template<class T> void pool(const dnnl::memory& source, const dnnl::memory& result) const;
  template<class T> void pool_backward(const dnnl::memory& gradient, const dnnl::memory& input_gradient) const;
  std::uint8_t* winners(std::int64_t plane) const;
  dnnl::memory::dims strides_, kernel_, padding_, padding_behind_;
  dnnl::pooling_forward::primitive_desc forward_descriptor_;
  dnnl::memory workspace_; // index of the maximum in each window, from forward to backward
  // Of our own kernels; empty if oneDNN's primitives are planned.
  std::optional<ChannelView> images_, results_;
  PlaneWindows windows_;
  dnnl::memory::desc image_layout_, result_layout_;
};

} // namespace dt::nn
