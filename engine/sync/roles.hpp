// Roles: which ranks train (workers) and which hold parameters (servers).
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/comm/topology.hpp"

#include <vector>

namespace dt::sync {

struct Roles {
  std::vector<int> workers, servers; // ranks, ascending; rank 0 is always a worker
  int index = 0;                     // index of this rank in the list of its role
  bool is_server = false;            // whether this rank is a server
};

// All ranks are workers unless the strategy has servers. Throws a recipe error if no worker is left. Pure.
Roles make_roles(const SyncSpec& sync, const comm::Topology& topology, int rank);

} // namespace dt::sync
