// The checks of dtctl doctor for the clusters that can be reached from here.
#pragma once

#include "cli/checks/machine.hpp"

#include <vector>

namespace dt::cli {

// What the schedulers of clusters say about their sites, and whether the nodes see the home, for which a short job may run.
std::vector<Finding> check_clusters(const Home& home);

} // namespace dt::cli
