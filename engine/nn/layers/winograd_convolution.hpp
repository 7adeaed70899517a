// WinogradConvolution: a 5x5 convolution by Winograd's algorithm (engine/nn/kernels/winograd_tiles.hpp), where oneDNN has only
// direct sums.
#pragma once

#include "engine/nn/kernels/lane_products.hpp"
#include "engine/nn/layers/convolution.hpp"

#include <memory>

namespace dt::nn {

class WinogradConvolution final : public Convolution {
 public:
  using Convolution::Convolution;
  // Windows of 5x5 with stride 1, and whole vectors of channels on both sides.
  static bool supports(const ConvolutionSpec& spec, std::int64_t input_channels);
  // Enough channels and pixels to be faster than direct sums. Measured on a Zen 4: 1.3 to 1.8 times as fast from 32 channels and
  // 8x8 pixels up, no faster below.
  static bool suits(const ConvolutionSpec& spec, std::int64_t input_channels, const Shape& output);
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  // A convolution of a batch: the layer's own, or, turned round, that of its output's gradient.
  struct Pass {
    Shape from, to;
    std::int64_t padding = 0;
    bool rotated = false, rectify = false;
    dnnl::memory images, weights, bias, results; // weights: [from.channels][5][5][to.channels]; bias may be empty
    dnnl::memory points;                         // of the weights: [36][from.channels][to.channels]
    dnnl::memory scratch;                        // of each thread
    Terms terms;
  };
  Pass pass(Plan& plan, const Shape& from, const Shape& to, std::int64_t padding) const;
  std::vector<dnnl::memory> memories(const Pass& pass) const;
  void run(const Pass& pass, std::int64_t batch) const;
  void run_chunk(const Pass& pass, std::int64_t first_tile, std::int64_t tiles, float* scratch) const;
  void plan_backward_weights(Plan& plan, const dnnl::memory& gradient);
  void run_backward_weights(const dnnl::memory& gradient, const dnnl::memory& pixels, const dnnl::memory& gradients,
                            const dnnl::memory& sums, const dnnl::memory& weight_gradient, std::int64_t batch) const;
  dnnl::memory::desc weights_of(dnnl::memory::format_tag tag) const;
  Pass forward_pass_, backward_pass_;
  dnnl::memory images_;
  Terms chunk_terms_, last_terms_; // backward to the weights: of the tiles of a chunk, and of the last one if it has fewer
  InstructionSet set_ = best_instruction_set();
};

// A WinogradConvolution if `winograd` allows it and the algorithms name winograd for all its directions, or, where they do not
// name the layer, if it suits; otherwise a Convolution, whose primitives are oneDNN's.
std::unique_ptr<Convolution> make_convolution(const std::string& name, Tensor input, Tensor output, const ConvolutionSpec& spec,
                                              bool winograd, const Algorithms& algorithms);

} // namespace dt::nn
