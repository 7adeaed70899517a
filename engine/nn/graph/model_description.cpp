#include "engine/nn/graph/model_description.hpp"

#include "core/spec/layer_schema.hpp"

namespace dt::nn {
namespace {

LayerDescription describe(const Layer& layer, const Model& model)
{
  LayerDescription description{.name = layer.name(),
                               .kind = layer.kind(),
                               .attributes = layer.attributes(),
                               .inputs = {},
                               .output = layer.output().shape,
                               .parameters = layer.parameters(),
                               .flops = layer.flops()};
  for (const auto& input : layer.inputs()) {
    description.sources.push_back(source_of(model, input));
    description.inputs.push_back(input.shape);
    description.takes_images = description.takes_images || input.id == model.input.id;
  }
  return description;
}

} // namespace

std::string source_of(const Model& model, Tensor tensor)
{
  for (const auto& layer : model.layers)
    if (layer->output().id == tensor.id) return layer->name();
  return std::string(images_name);
}

std::vector<LayerDescription> describe(const Model& model)
{
  std::vector<LayerDescription> layers;
  for (const auto& layer : model.layers) layers.push_back(describe(*layer, model));
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
