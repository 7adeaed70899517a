// The checks of dtctl doctor for the clusters that can be reached from here.
#pragma once

#include "cli/checks/machine.hpp"

#include <vector>

namespace dt::cli {

// Asks each cluster's scheduler about its limits, accounting, partitions and nodes, and whether the nodes see the home. To find
// out the latter, a short job may run.
std::vector<Finding> check_clusters(const Home& home);

} // namespace dt::cli
