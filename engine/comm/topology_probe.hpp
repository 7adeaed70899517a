// Finds which nodes share a switch by measuring bandwidths between nodes.
#pragma once

#include "engine/comm/topology.hpp"

#include <vector>

namespace dt::comm {

// Bytes per second between each pair, as a matrix; symmetric; the diagonal has no meaning.
using Bandwidths = std::vector<std::vector<double>>;

// Returns the group of each member, numbered 0, 1, … by first member. Several groups are reported only if there is one clear gap:
// all pairs are either fast or slow, with a factor of at least 1.8 between them; members joined by fast pairs form a group; each
// group has at least two members; and 75% of the pairs inside groups are fast. Otherwise all are in group 0.
std::vector<int> group_by_bandwidth(const Bandwidths& bytes_per_s);

// Round-robin tournament of `count` members: in each round every member meets at most one other, and over all rounds every pair
// meets once. tournament_partner returns the partner of `index`, or -1 if it has none in this round (odd counts).
int tournament_rounds(int count);
int tournament_partner(int round, int index, int count);

// Measures the bandwidth between all ranks of comm in tournament rounds: pairs of the same round share a trunk, if there is one,
// and are slow because of it. Both directions at once; the better of two tries. Takes about one second at most on 1 Gbit/s links
// with a trunk of a quarter of that. The result is equal on all ranks. The traffic is not counted. Collective.
Bandwidths measure_bandwidths(Communicator& comm);

// Finds nodes by host name, and supernodes by the bandwidths between the first ranks of the nodes. Collective.
Topology probe_topology(Communicator& comm);

} // namespace dt::comm
