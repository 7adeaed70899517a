// Reads the list under `model.layers`: checks each layer against the table of layers and writes it as a canonical line.
#pragma once

#include "recipes/reading/document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

inline constexpr std::size_t most_layers = 1000;

// Returns the lines (core/spec/layer_schema.hpp), or nothing and a diagnostic for each mistake: unknown kinds and attributes,
// wrong types and ranges, repeated names, inputs that are not an earlier layer, layers whose output nobody uses.
std::optional<std::vector<std::string>> read_layers(const Node& node, Diagnostics& diagnostics);

} // namespace dt::recipes
