#include "engine/nn/graph/make_layers.hpp"

#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/layers/add.hpp"
#include "engine/nn/layers/affine/block_inner_product.hpp"
#include "engine/nn/layers/affine/reference_convolution.hpp"
#include "engine/nn/layers/batch_norm.hpp"
#include "engine/nn/layers/concat.hpp"
#include "engine/nn/layers/dropout.hpp"
#include "engine/nn/layers/lanes/lane_convolution.hpp"
#include "engine/nn/layers/lanes/lane_inner_product.hpp"
#include "engine/nn/layers/lanes/lane_pooling.hpp"
#include "engine/nn/layers/lrn.hpp"
#include "engine/nn/layers/relu.hpp"
#include "engine/nn/layers/winograd/winograd_convolution.hpp"

#include <algorithm>
#include <optional>

namespace dt::nn {
namespace {

// Makes the layer for one description: a function for each kind. `place` is that of the layer in its model.
struct Maker {
  using Made = std::unique_ptr<Layer>;
  const model::Layer& layer;
  std::size_t place;
  const LayerOptions& options;

  bool in_lanes() const { return options.kernels == LayerKernels::image_lanes; }

  Made operator()(const ConvolutionSpec& spec) const
  {
    if (in_lanes() && LaneConvolution::supports(spec)) return std::make_unique<LaneConvolution>(layer);
    if (options.kernels == LayerKernels::plain_loops) return std::make_unique<ReferenceConvolution>(layer);
    return make_convolution(layer, options.winograd, options.precision);
  }
  Made operator()(const model::InnerProductSpec& spec) const
  {
    if (in_lanes()) return std::make_unique<LaneInnerProduct>(layer);
    if (BlockInnerProduct::suits(layer.inputs[0].shape.size(), spec.outputs, options.precision))
      return std::make_unique<BlockInnerProduct>(layer);
    return std::make_unique<InnerProduct>(layer);
  }
  Made operator()(const PoolingSpec& spec) const
  {
    if (in_lanes() && !spec.global && LanePooling::supports(spec.kernel)) return std::make_unique<LanePooling>(layer);
    return std::make_unique<Pooling>(layer);
  }
  Made operator()(const model::BatchNormSpec&) const { return std::make_unique<BatchNorm>(layer); }
  Made operator()(const model::ReluSpec&) const { return std::make_unique<Relu>(layer); }
  Made operator()(const model::LrnSpec&) const { return std::make_unique<Lrn>(layer); }
  Made operator()(const model::DropoutSpec&) const { return std::make_unique<Dropout>(layer, place); }
  Made operator()(const model::AddSpec&) const { return std::make_unique<Add>(layer); }
  Made operator()(const model::ConcatSpec&) const { return std::make_unique<Concat>(layer); }
};

std::optional<bool> decided_lanes(const NetworkOptions& options)
{
  if (options.precision != Precision::fp32) return false;
  if (options.image_lanes) return options.image_lanes;
  if (!options.algorithms.empty()) return uses_image_lanes(options.algorithms);
  return {};
}

LayerKernels kernels_for(const model::Model& model, const NetworkOptions& options)
{
  if (options.reference) return LayerKernels::plain_loops;
  const bool lanes = decided_lanes(options).value_or(suits_image_lanes(model, options.batch));
  return lanes ? LayerKernels::image_lanes : LayerKernels::library;
}

} // namespace

LayerGraph make_layers(const model::Model& model, const LayerOptions& options)
{
  LayerGraph graph{
      .layers = {}, .tensors = model.tensors, .input = model.input, .logits = model.logits, .auxiliary = model.auxiliary};
  for (std::size_t place = 0; place < model.layers.size(); ++place)
    graph.layers.push_back(std::visit(Maker{model.layers[place], place, options}, model.layers[place].spec));
  return graph;
}

model::ModelOptions model_options(const NetworkOptions& options)
{
  return {.model = options.model,
          .layers = options.layers,
          .image = options.image,
          .classes = options.classes,
          .dropout = options.dropout};
}

LayerGraph make_network_layers(const NetworkOptions& options)
{
  const auto model = model::build_model(model_options(options));
  auto graph =
      make_layers(model, {.kernels = kernels_for(model, options), .winograd = options.winograd, .precision = options.precision});
  fuse(graph);
  return graph;
}

bool has_small_layers(const model::Model& model, std::int64_t most_channels)
{
  constexpr std::int64_t most_floats = 1 << 14, most_parameters = 1 << 20;
  return std::ranges::all_of(model.layers, [&](const model::Layer& layer) {
    const auto& shape = layer.output.shape;
    return layer.parameters() <= most_parameters && shape.size() <= most_floats &&
           (!layer.is<ConvolutionSpec>() || shape.channels <= most_channels);
  });
}

// Measured for LeNet with full groups of images: 1.75 times as fast. With few images the lanes are mostly empty.
bool suits_image_lanes(const model::Model& model, std::int64_t batch)
{
  constexpr std::int64_t most_channels = 16;
  constexpr double least_share = 0.65; // of the lanes that hold an image
  const auto& layers = model.layers;
  const auto lanes = lane_groups(batch) * image_lanes;
  return static_cast<double>(batch) >= least_share * static_cast<double>(lanes) &&
         std::ranges::any_of(layers, &model::Layer::is<ConvolutionSpec>) &&
         std::ranges::none_of(layers, &model::Layer::is<model::BatchNormSpec>) && has_small_layers(model, most_channels);
}

} // namespace dt::nn
