// Topology: which ranks share a host, and which hosts share a switch (a supernode).
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <vector>

namespace dt::comm {

struct Topology {
  std::vector<int> node;      // node of each rank, numbered 0, 1, … by first rank
  std::vector<int> supernode; // supernode of each rank, numbered likewise; all 0 if unknown
  int nodes() const;
  int supernodes() const;
};

// Finds nodes by host name. nodes_per_supernode consecutive nodes form a supernode (0: all nodes form one). Collective.
Topology topology_of_hosts(Communicator& comm, std::int64_t nodes_per_supernode);

} // namespace dt::comm
