// BlockInnerProduct: an inner product with kernels of our own (engine/nn/kernels/block_products.hpp) on processors without
// AVX-512, where oneDNN copies all weights into another layout for each direction and then reads them at a third of the memory's
// speed.
//
// Weights lie in blocks of 16 x 16: OI16i16o, [output / 16][input / 16][16 inputs][16 outputs]. Numbers of samples are packed as
// [feature / 16][sample][16], with zeros behind the last feature. Every direction passes over the weights once.
#pragma once

#include "engine/nn/kernels/block_products.hpp"
#include "engine/nn/layers/affine/inner_product.hpp"

namespace dt::nn {

class BlockInnerProduct final : public InnerProduct {
 public:
  using InnerProduct::InnerProduct;
  // Where it is faster than oneDNN's inner product.
  static bool suits(std::int64_t inputs, std::int64_t outputs, Precision precision);
  void plan_forward(Plan& plan) override;

 private:
  void plan_backward_data(Plan& plan, const dnnl::memory& output_gradient) override;
  void plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient) override;
  dnnl::memory::desc weight_blocks() const;
  dnnl::memory allocate_packed(Plan& plan, std::int64_t features) const;
  Operation packing(Plan& plan, const dnnl::memory& plain, const dnnl::memory& packed, std::int64_t features) const;
  void run_forward(const dnnl::memory& weights, const dnnl::memory& results, const dnnl::memory& sums, std::int64_t batch) const;
  void run_backward_data(const dnnl::memory& weights, const dnnl::memory& sums, const dnnl::memory& plain,
                         std::int64_t batch) const;
  void run_backward_weights(const dnnl::memory& weight_gradient, const dnnl::memory& bias_gradient, std::int64_t batch) const;
  std::int64_t inputs() const { return input().shape.size(); }
  std::int64_t outputs() const { return output().shape.channels; }
  const BlockKernels& products_ = block_kernels(best_instruction_set());
  dnnl::memory samples_, gradients_; // packed: of the input, and the gradient of the output
  dnnl::memory bias_;
};

} // namespace dt::nn
