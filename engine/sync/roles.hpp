// Roles: which ranks train and which serve parameters.
#pragma once

#include "core/run_spec.hpp"
#include "engine/comm/topology.hpp"

#include <vector>

namespace dt::engine {

struct Roles {
  std::vector<int> workers, servers; // ranks, ascending; rank 0 is always a worker
  int index = 0;                     // of this rank among those of its role
  bool is_server = false;            // this rank
};

// Everyone is a worker unless the strategy has servers. A recipe error when no worker is left. Pure.
Roles make_roles(const SyncSpec& sync, const Topology& topology, int rank);

} // namespace dt::engine
