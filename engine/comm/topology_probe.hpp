// Which nodes hang on one switch, found by sending between them.
#pragma once

#include "engine/comm/topology.hpp"

#include <vector>

namespace dt::engine {

// Bytes a second between any two of several, as a row for each; symmetric, the diagonal means nothing.
using Bandwidths = std::vector<std::vector<double>>;

// A number of its group for each, 0, 1, … in the order of first members. There are several groups only when there is one clear
// gap: the pairs fall into fast ones and slow ones, a factor of 1.8 or more apart; those joined by fast pairs are a group; each
// group has two members or more, and three quarters of the pairs inside groups are fast. Else all are in group 0.
std::vector<int> group_by_bandwidth(const Bandwidths& bytes_per_s);

// Who meets whom in a tournament of `count`: in each of its rounds everybody meets at most one other, and over all rounds every
// pair meets once. The partner of `index`, or -1 for who sits out (with odd counts).
int tournament_rounds(int count);
int tournament_partner(int round, int index, int count);

// Between all ranks of comm, measured in such rounds: pairs that meet at the same time share what trunk there is between
// them, and are slow for it. Both directions at once; the better of two tries. Equal on all ranks, not counted as traffic. About
// a second at most on links of 1 Gbit/s with a trunk of a quarter of that. Collective.
Bandwidths measure_bandwidths(Communicator& comm);

// Nodes by host name, supernodes by the bandwidths between the first ranks of the nodes. Collective.
Topology probe_topology(Communicator& comm);

} // namespace dt::engine
