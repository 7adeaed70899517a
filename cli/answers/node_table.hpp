// The table of a study that has one run on every node (dtctl sweep --distribute): which nodes are slow.
#pragma once

#include "cli/command/context.hpp"
#include "store/query/queries.hpp"

#include <vector>

namespace dt::cli {

// Whether the runs differ in their node and in nothing else but their repeat.
bool is_distribution(const std::vector<store::RunRow>& runs);

// Prints the nodes with their speeds, names the slow ones and those without a result, and the line of a recipe that leaves the
// slow ones out.
void print_nodes(Context& context, const std::vector<store::RunRow>& runs);

} // namespace dt::cli
