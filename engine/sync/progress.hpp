// Who moves messages on, where the recipe leaves that to the engine (sync.progress: auto).
#pragma once

#include "core/run_spec.hpp"
#include "engine/comm/placement.hpp"

#include <string>
#include <vector>

namespace dt::engine {

struct Progress {
  std::string name;  // of progress_names(), not auto
  std::string words; // for the record: "poll: not every rank has a core to spare"; empty where the recipe names it
};

// The same on all ranks. places: of all ranks, looked at for auto only. Pure.
Progress choose_progress(const RunSpec& spec, const std::vector<RankPlace>& places);

} // namespace dt::engine
