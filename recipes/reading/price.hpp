// The `cost:` block of a machine profile: what an hour of a node costs.
//
//   cost:
//     node_hour: 0.8     # in the currency
//     currency: EUR      # EUR is the default; only shown
#pragma once

#include "recipes/reading/diagnostics.hpp"
#include "recipes/reading/document.hpp"
#include "recipes/reading/types.hpp"

#include <optional>

namespace dt::recipes {

// Adds a diagnostic for each mistake; then returns nothing.
std::optional<Price> read_price(const Node& block, Diagnostics& diagnostics);

} // namespace dt::recipes
