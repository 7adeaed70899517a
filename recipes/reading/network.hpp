// The `network:` block of a machine profile: the cost of messages between nodes, for predictions.
//
//   network:
//     latency: 50us         # α: time of a message without its bytes
//     bandwidth: 1 Gbit/s   # 1/β: of a node's link
//     reduce: 5 GB/s        # 1/γ: bytes that a rank adds in a second; optional, additions take no time without it
//
// `dtbench comm` measures the three and prints the block.
#pragma once

#include "core/maths/allreduce_cost.hpp"
#include "recipes/reading/diagnostics.hpp"
#include "recipes/reading/document.hpp"

#include <optional>

namespace dt::recipes {

// Adds a diagnostic for each mistake; then returns nothing.
std::optional<CostModel> read_network(const Node& block, Diagnostics& diagnostics);

} // namespace dt::recipes
