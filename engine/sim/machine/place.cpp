// A simulated rank's host is its platform's node; it may use as many cores as the node has ranks.
#include "engine/comm/machine/place.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <numeric>

#include <simgrid/s4u.hpp>

namespace dt::comm {

RankPlace own_place()
{
  RankPlace place{.host = simgrid::s4u::this_actor::get_host()->get_name(), .cores = {}};
  place.cores.resize(static_cast<std::size_t>(sim::simulated_machine().platform.ranks_per_node));
  std::iota(place.cores.begin(), place.cores.end(), 0);
  return place;
}

} // namespace dt::comm
