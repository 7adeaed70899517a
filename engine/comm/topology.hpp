// Topology: which ranks share a host, and which hosts hang on one switch.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <vector>

namespace dt::engine {

struct Topology {
  std::vector<int> node;      // of each rank: 0, 1, … in the order of their first ranks
  std::vector<int> supernode; // of each rank, likewise; all 0 when nothing is known
  int nodes() const;
  int supernodes() const;
};

// By host name; nodes_per_supernode consecutive nodes make a supernode (0: all nodes are one). Collective.
Topology topology_of_hosts(Communicator& comm, std::int64_t nodes_per_supernode);

} // namespace dt::engine
