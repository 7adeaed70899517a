// A few layers on their own, forward and backward, in plain order: what the fast ones are held against the reference with.
#pragma once

#include "engine/model/model_builder.hpp"
#include "engine/nn/graph/make_layers.hpp"
#include "tests/engine/nn/reference.hpp"

#include <functional>

namespace dt::nn {

using model::ModelBuilder;

struct LayerInput {
  std::int64_t batch;
  reference::Values images, weights, output_gradient; // weights: of all parameters in plain order
  Algorithms algorithms{};                            // of the convolutions; empty: those of the rules
  // Of the images as the first layer reads them.
  dnnl::memory::format_tag layout = dnnl::memory::format_tag::nchw;
  Precision precision = Precision::fp32; // that of the model
  int threads = 1;
};

struct LayerOutput {
  reference::Values output, input_gradient, weight_gradients;
};

// The layers that `describe` makes of images, joined where a network would join them.
LayerGraph described(const Shape& image, const std::function<Tensor(ModelBuilder&)>& describe,
                     LayerKernels kernels = LayerKernels::library, Precision precision = Precision::fp32);

// Forward and backward, with a gradient for the images too.
LayerOutput run_layers(const LayerGraph& graph, const LayerInput& in);
// The output in an evaluation.
reference::Values evaluate_layers(const LayerGraph& graph, const LayerInput& in);

// Values of any layout in plain order, and a memory of plain order that fits them.
reference::Values read_plain(const Plan& plan, const dnnl::stream& stream, dnnl::memory memory);
dnnl::memory plain_memory(const Plan& plan, const dnnl::memory::desc& like, std::vector<float>& values);

reference::Values joined(const std::vector<reference::Values>& parts);
reference::Values absolute(reference::Values values);

// How many values are further from the expected than allowed, or no numbers.
std::size_t count_outside(const reference::Values& values, const reference::Values& expected, const reference::Values& allowed);
// Of values that each are a sum of so many products in float, in any order: within n 2^-24 of the sum of absolute values, to
// first order.
std::size_t count_outside_sums(const reference::Values& values, const reference::Values& expected,
                               const reference::Values& absolute_sums, std::int64_t terms);

} // namespace dt::nn
