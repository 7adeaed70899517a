// Placement: on which host and on which cores each rank may run, and whether the threads asked for fit.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::engine {

struct RankPlace {
  std::string host;
  std::vector<int> cores; // of the affinity mask, ascending
};

// Every rank's place, on every rank. Collective.
std::vector<RankPlace> gather_places(Communicator& comm);

// "0-3,8" for {0,1,2,3,8}; "" for none.
std::string mask_text(const std::vector<int>& cores);
// {0,1,2,3,8} for "0-3,8".
std::vector<int> parse_mask(const std::string& text);

// Different hosts among the places.
int node_count(const std::vector<RankPlace>& places);

// A run error that names rank or host, masks and what to do, when a rank has more threads than cores in its mask, or the
// ranks of a host together more threads than cores in all their masks. communication_threads: of each rank, beside those that
// compute (sync.progress: thread has one).
void require_cores(const std::vector<RankPlace>& places, std::int64_t threads_per_rank, std::int64_t communication_threads);

} // namespace dt::engine
