// The list under `model.layers`: each layer checked against the table of layers, and made one canonical line.
#pragma once

#include "recipes/document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

inline constexpr std::size_t most_layers = 1000;

// The lines (core/layer_schema.hpp), or nothing and a diagnostic for each mistake: kinds, attributes, their types and
// ranges, names given twice, inputs that no earlier layer has, layers that nobody uses.
std::optional<std::vector<std::string>> read_layers(const Node& node, Diagnostics& diagnostics);

} // namespace dt::recipes
