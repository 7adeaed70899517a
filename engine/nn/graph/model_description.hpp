// Describes a model for reports: its layers with shapes and costs.
#pragma once

#include "engine/nn/graph/model_builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::nn {

struct LayerDescription {
  std::string name, kind;
  LayerAttributes attributes{};
  std::vector<std::string> sources{}; // for each input the layer that makes it, or "images"
  std::vector<Shape> inputs;
  Shape output;
  std::int64_t parameters = 0; // trained parameters
  double flops = 0;            // of one sample's forward pass; a multiply-add counts as 2
  bool takes_images = false;   // if so, the gradient of its input is not computed
};
std::vector<LayerDescription> describe(const Model& model);
// The name of the layer that makes the tensor; "images" for the model's input.
std::string source_of(const Model& model, Tensor tensor);

struct ModelTotals {
  std::int64_t parameters = 0;
  double forward_flops = 0; // per sample
  double step_flops = 0;    // per sample: forward, backward to the data, and backward to the weights
};
ModelTotals totals_of(const std::vector<LayerDescription>& layers);

} // namespace dt::nn
