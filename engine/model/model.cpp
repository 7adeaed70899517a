#include "engine/model/model.hpp"

#include "core/spec/layer_schema.hpp"

#include <algorithm>

namespace dt::model {

std::string Model::source_of(Tensor tensor) const
{
  const auto found = std::ranges::find(layers, tensor.id, [](const Layer& layer) { return layer.output.id; });
  return found == layers.end() ? std::string(images_name) : found->name;
}

bool Model::takes_images(const Layer& layer) const
{
  return std::ranges::any_of(layer.inputs, [this](const Tensor& tensor) { return tensor.id == input.id; });
}

ModelTotals Model::totals() const
{
  ModelTotals totals;
  for (const auto& layer : layers) {
    totals.parameters += layer.parameters();
    totals.forward_flops += layer.flops();
    totals.step_flops += layer.flops() * (takes_images(layer) ? 2 : 3);
  }
  return totals;
}

} // namespace dt::model
