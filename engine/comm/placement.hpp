// Placement: the hosts and the cores of all ranks, and a check that the requested threads fit.
#pragma once

#include "core/machine/cpu_allowance.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/machine/place.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dt::comm {

// Returns every rank's place, on every rank. Collective.
std::vector<RankPlace> gather_places(Communicator& comm);

// Number of different hosts.
int node_count(const std::vector<RankPlace>& places);

// Whether each of these ranks, all of one host, can have a core of its own in its mask. Pure.
bool have_own_cores(std::span<const RankPlace> places);

// Threads of a rank, each of which needs a core.
struct RankThreads {
  std::int64_t compute = 1;
  std::int64_t communication = 0; // 1 with sync.progress: thread
  std::int64_t decode = 0;        // data.decode_threads
};

// Throws a run error if a rank has more threads than cores in its mask, or if the ranks of a host have together more threads than
// cores in all their masks. The error names rank or host, the masks and the remedy.
void require_cores(const std::vector<RankPlace>& places, const RankThreads& threads);

} // namespace dt::comm
