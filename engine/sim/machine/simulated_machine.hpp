// SimulatedMachine: the platform of the running simulation, and the memory and time that the files of this folder take from it.
#pragma once

#include "engine/sim/platform/platform.hpp"

#include <cstddef>

namespace dt::sim {

struct SimulatedMachine {
  Platform platform;
  bool folded = true;
};

// The machine of the running simulation. simulate() sets it before the ranks start.
SimulatedMachine& simulated_machine();

// Memory that all ranks share in a folded simulation; its content has no meaning.
// Throws a usage error if it has fewer than `bytes` bytes.
std::byte* folded_memory(std::size_t bytes = 0);

// Zero bytes, aligned to 128 bytes, for a window that the ranks of a node share. They are not returned.
std::byte* take_window_memory(std::size_t bytes);

// Whether this address is in folded_memory() or in a window of a folded simulation. Windows also hold counters, which have a
// meaning, so ask for vectors only.
bool is_folded(const void* address);

// Advances the clock of the calling rank's running thread (spend_s) by the time that reading and writing `bytes` bytes of memory
// takes: bytes / Platform::memory_bandwidth.
void spend_memory_traffic(std::size_t bytes);

} // namespace dt::sim
