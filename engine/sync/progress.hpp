// Selects the thread that advances communication when the recipe says sync.progress: auto.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/comm/placement.hpp"

#include <string>
#include <vector>

namespace dt::sync {

struct Progress {
  ProgressMode mode; // never automatic
  std::string words; // for the run record: "poll: not every rank has a core to spare"; empty if the recipe names the progress
};

// Gives the same result on all ranks. places: of all ranks; used only for auto. Pure.
Progress choose_progress(const RunSpec& spec, const std::vector<comm::RankPlace>& places);

} // namespace dt::sync
