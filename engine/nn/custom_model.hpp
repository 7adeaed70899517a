// The network of a recipe's own: its lines (core/layer_schema.hpp) read and given to the builder.
#pragma once

#include "engine/nn/model_builder.hpp"

#include <span>
#include <string>

namespace dt::engine {

// Describes the layers and returns the output of the last one: one value a class. A recipe error that names the layer by its
// place, its name and its attributes when a line is wrong, an input unknown, an output unused or a shape does not fit.
Tensor custom(ModelBuilder& model, std::span<const std::string> lines);

} // namespace dt::engine
