// Simulation: runs the ranks of an MPI program on a simulated machine, inside this process. Computation takes the time that the
// program states (comm::pause_s), passes over vectors that of their memory traffic (comm::begin_pass), messages that of the
// simulated network.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/sim/platform/platform.hpp"

#include <functional>

namespace dt::sim {

struct SimulationOptions {
  Platform platform;
  // True: vectors (comm::Buffer) of all ranks share one memory whose content has no meaning, and passes over it take time but do
  // nothing. So a rank costs little memory. False: everything is computed, for tests of results.
  bool folded = true;
};

// Runs rank_program on every rank and returns when all have ended. The communicator is that of all ranks. Equal options and
// programs give equal simulated times. Rethrows the first exception of a rank; throws an internal error if
// ranks wait for each other without end. At most one call in a program's life, because the
// simulator cannot start again.
void simulate(const SimulationOptions& options, const std::function<void(comm::Communicator&)>& rank_program);

} // namespace dt::sim
