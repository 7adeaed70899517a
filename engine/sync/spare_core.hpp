// SpareCore: a core for a rank's communication thread.
#pragma once

#include "engine/comm/placement.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dt::sync {

// The core of a rank's communication thread.
struct SpareCore {
  int core = -1;           // core of this rank's communication thread
  std::vector<int> others; // the cores kept free on this host for all ranks with the same mask; includes `core`
};

// Finds a core in the rank's mask that no compute thread needs. Empty if there is none, or if masks on the host overlap without
// being equal. places: of all ranks. Pure.
std::optional<SpareCore> find_spare_core(const std::vector<comm::RankPlace>& places, int rank, std::int64_t threads_per_rank);

} // namespace dt::sync
