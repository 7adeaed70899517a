// Batch normalisation [IoffeSzegedy2015] of each channel over the batch and all places, with the fused layers after it:
//   mean = E[x], var = E[(x - mean)^2], y = gamma (x - mean) / sqrt(var + epsilon) + beta + residual, optionally max(y, 0)
//   An evaluation uses the running mean and variance. Both passes use the biased variance.
#pragma once

#include "engine/nn/kernels/batch_norm_kernels.hpp"
#include "engine/nn/kernels/channel_view.hpp"
#include "engine/nn/layers/layer.hpp"

#include <array>

namespace dt::nn {

class BatchNorm final : public Layer {
 public:
  using Layer::Layer;
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

  // Fuse the layers after this one into it; see fuse() in layer_graph.hpp.
  void fuse_relu(Tensor result);
  void fuse_add(Tensor residual, Tensor result);
  bool has_relu() const { return relu_; }
  bool has_residual() const { return inputs().size() > 1; }

 private:
  // One number per channel, padded to a multiple of 16; part of the packed buffers or of a small buffer.
  struct Channels {
    dnnl::memory memory;
    float* at(std::int64_t group) const { return static_cast<float*>(memory.get_data_handle()) + group; }
  };
  // Two sums over a row's places, one of each per channel.
  struct RowSums {
    std::array<double, 16> first{}, second{};
  };
  void declare(Plan& plan);
  void plan_view(Plan& plan);
  Channels channels(Plan& plan) const;
  std::span<float> all(const Channels& channels) const;

  template<class T> NormRow<T> row(std::int64_t group, std::int64_t sample) const;
  NormCoefficients coefficients(std::int64_t group) const;
  RowSums& row_sums(std::int64_t group, std::int64_t sample)
  {
    return row_sums_[static_cast<std::size_t>(group * view_.samples + sample)];
  }
  RowSums group_sums(std::int64_t group);

  template<class T> void normalize();
  template<class T> std::array<float, 16> shift_of(std::int64_t group) const;
  template<class T> void measure_row(std::int64_t group, std::int64_t sample);
  template<class T> void take_moments(std::int64_t group);
  void average_moments_over_ranks();
  void prepare(std::int64_t group);
  template<class T> void evaluate();

  template<class T> void differentiate();
  void take_gradients(std::int64_t group);
  void prepare_gradient(std::int64_t group);

  bool relu_ = false;
  ChannelView view_;
  MeanOverRanks synchronize_;
  const PassState* state_ = nullptr;
  dnnl::memory x_, residual_, y_; // equal layouts
  std::vector<dnnl::memory> parts_;
  std::vector<RowSums> row_sums_;
  dnnl::memory d_, dx_;
  Channels scale_, shift_, running_mean_, running_variance_;                     // parameters
  Channels scale_gradient_, shift_gradient_, mean_gradient_, variance_gradient_; // their gradients
  Channels mean_, inverse_, a_, b_, sum_, product_;                              // of the current pass
};

} // namespace dt::nn
