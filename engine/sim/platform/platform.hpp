// Platform: the machine of a simulation, in figures.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstdint>

namespace dt::sim {

// Every node has one link to a switch; all links are alike, and the switch itself limits nothing. nodes_per_supernode consecutive
// nodes share a switch, and each switch has one trunk to a common one. Messages within a node have no latency.
struct Platform {
  std::int64_t nodes = 1, ranks_per_node = 1;
  std::int64_t cores_per_rank = 1;      // cores of a node for each of its ranks
  double bandwidth = 125e6;             // bytes/s of a node's link, in each direction at once
  double latency_s = 50e-6;             // from node to node
  std::int64_t nodes_per_supernode = 0; // 0: all nodes form one
  // A supernode's trunk has this share of the bandwidth of all its nodes' links together; its latency comes in addition.
  double trunk_share = 1, trunk_latency_s = 0;
  // bytes/s that one rank reads and writes in its node's memory: for sums, copies and messages between ranks of a node.
  double memory_bandwidth = 10e9;
  // Seconds that a rank is busy with a message, at the sender and at the receiver: the part of a message's time that does not
  // overlap with other messages of the same rank.
  double message_s = 0;

  std::int64_t ranks() const { return nodes * ranks_per_node; }
  std::int64_t supernode_of(std::int64_t node) const { return nodes_per_supernode > 0 ? node / nodes_per_supernode : 0; }
  std::int64_t supernodes() const { return supernode_of(nodes - 1) + 1; }
};

// The platform of a simulated run, with the nodes and ranks that the run takes.
Platform platform_of(const RunSpec& spec);

// Throws a usage error that names the figure when no machine can be like this.
void require_possible(const Platform& platform);

} // namespace dt::sim
