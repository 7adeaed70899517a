#include "engine/comm/topology.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

int count_of(const RankNumbers& groups) { return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1; }

} // namespace

int Topology::nodes() const { return count_of(node); }
int Topology::supernodes() const { return count_of(supernode); }

} // namespace dt::comm
