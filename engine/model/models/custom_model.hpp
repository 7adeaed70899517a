// Builds the network that a recipe describes layer by layer (format: core/spec/layer_schema.hpp).
#pragma once

#include "engine/model/model_builder.hpp"

#include <span>
#include <string>

namespace dt::model {

// Describes the layers and returns the output of the last one: one value per class. Throws a recipe error with the layer's
// number, name and attributes if a line is wrong, an input is unknown, an output is not used, or a shape does not fit.
Tensor custom(ModelBuilder& model, std::span<const std::string> lines);

} // namespace dt::model
