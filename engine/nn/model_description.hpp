// What a model consists of, for people: its layers with their shapes, and what they cost.
#pragma once

#include "engine/nn/model_builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::engine {

struct LayerDescription {
  std::string name, kind;
  std::vector<Shape> inputs;
  Shape output;
  std::int64_t parameters = 0; // trained ones
  double flops = 0;            // forward, of one sample: 2 x multiply-adds
  bool takes_images = false;   // so nobody asks for its input's gradient
};
std::vector<LayerDescription> describe(const Model& model);

struct ModelTotals {
  std::int64_t parameters = 0;
  double forward_flops = 0; // of one sample
  double step_flops = 0;    // of one sample: forward, backward to the data and to the weights
};
ModelTotals totals_of(const std::vector<LayerDescription>& layers);

} // namespace dt::engine
