// WinogradConvolution: a convolution with windows of 3x3 or 5x5 whose directions may go by Winograd's algorithm
// (engine/nn/kernels/winograd/winograd_tiles.hpp). In bf16 the images and their gradients are bfloat16; points, weights, products
// and sums are fp32.
#pragma once

#include "engine/nn/layers/affine/convolution.hpp"
#include "engine/nn/layers/winograd/winograd_filter.hpp"
#include "engine/nn/layers/winograd/winograd_weight_sums.hpp"

#include <memory>

namespace dt::nn {

class WinogradConvolution final : public Convolution {
 public:
  WinogradConvolution(const model::Layer& description, Precision precision);
  // Windows of 3x3 or 5x5 with stride 1, one group, a padding below the window's side, and whole blocks of sixteen channels on
  // both sides.
  static bool supports(const ConvolutionSpec& spec, std::int64_t input_channels);
  void plan_forward(Plan& plan) override;

 private:
  void plan_backward_data(Plan& plan, const dnnl::memory& output_gradient) override;
  void plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient) override;
  LayerAlgorithms rule() const override;
  // Enough channels and pixels to be clearly faster than direct sums in all directions. Never in bf16: direct sums of bfloat16
  // are twice as fast as those of fp32 on one processor and sixteen times on another, so only a timing can tell there.
  bool suits() const;

  // Memories of a WinogradFilter; the bias may be empty.
  struct FilterMemories {
    dnnl::memory images, weights, bias, results;
  };
  Operation filter_operation(const char* what, Plan& plan, const WinogradFilter::Case& of, const FilterMemories& memories) const;
  dnnl::memory::desc images_of(const Plan& plan, const Shape& shape) const;
  dnnl::memory::desc block_weights() const; // the layout of WinogradFilter and WinogradWeightSums

  Precision precision_;
  WinogradTiling tiling_;
};

// A WinogradConvolution where `winograd` allows it and the class supports the shape; otherwise a Convolution.
std::unique_ptr<Convolution> make_convolution(const model::Layer& description, bool winograd, Precision precision);

} // namespace dt::nn
