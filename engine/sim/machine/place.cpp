// A simulated rank's host is its platform's node, whose cores its ranks share.
#include "engine/comm/machine/place.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <numeric>

#include <simgrid/s4u.hpp>

namespace dt::comm {

RankPlace own_place()
{
  RankPlace place{.host = simgrid::s4u::this_actor::get_host()->get_name(), .cores = {}};
  const auto& platform = sim::simulated_machine().platform;
  place.cores.resize(static_cast<std::size_t>(platform.ranks_per_node * platform.cores_per_rank));
  std::iota(place.cores.begin(), place.cores.end(), 0);
  return place;
}

} // namespace dt::comm
