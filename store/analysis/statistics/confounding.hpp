// Whether two sides of a comparison were measured under the same conditions: at the same times and on the same nodes. Otherwise
// a difference may be one of the hours or of the nodes (it is confounded with them), and no number of runs tells. The one rule of
// all verbs. Pure functions.
#pragma once

#include <limits>
#include <set>
#include <span>
#include <string>

namespace dt::store {

// When and where a run was measured.
struct Occasion {
  double begin_unix_s = std::numeric_limits<double>::quiet_NaN(); // NaN: not known
  std::set<std::string> nodes{};                                  // empty: not known
  std::string block{};                                            // the round, as Candidate::blocks; empty: none
};

enum class Confounded {
  no,      // or not known
  by_time, // the runs were measured neither in common rounds nor in turn
  by_nodes // the sides used other nodes
};

// In time, sides are alike if two thirds of the runs of the smaller one are in rounds of both, or if as many changes from one
// side to the other as that one has runs stand in the order in which the runs began: a round has one run of each. Nodes are alike
// if the sides have one in common and, where all runs have equally many nodes, their shares overlap by half: shares p and q of
// the runs on each node overlap by the sum of min(p, q). Nodes come first: a later time on other nodes is `by_nodes`. What is not
// known of one run is no difference.
Confounded confounding_of(std::span<const Occasion> a, std::span<const Occasion> b);

} // namespace dt::store
