#include "engine/nn/graph/model_description.hpp"

namespace dt::nn {
namespace {

LayerDescription describe(const Layer& layer, const Tensor& images)
{
  LayerDescription description{.name = layer.name(),
                               .kind = layer.kind(),
                               .inputs = {},
                               .output = layer.output().shape,
                               .parameters = layer.parameters(),
                               .flops = layer.flops()};
  for (const auto& input : layer.inputs()) {
    description.inputs.push_back(input.shape);
    description.takes_images = description.takes_images || input.id == images.id;
  }
  return description;
}

} // namespace

std::vector<LayerDescription> describe(const Model& model)
{
  std::vector<LayerDescription> layers;
  for (const auto& layer : model.layers) layers.push_back(describe(*layer, model.input));
  return layers;
}

ModelTotals totals_of(const std::vector<LayerDescription>& layers)
{
  ModelTotals totals;
  for (const auto& layer : layers) {
    totals.parameters += layer.parameters;
    totals.forward_flops += layer.flops;
    totals.step_flops += layer.flops * (layer.takes_images ? 2 : 3);
  }
  return totals;
}

} // namespace dt::nn
