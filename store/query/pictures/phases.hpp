// Phases of steps: means of points, and of the ranks of one run.
#pragma once

#include "store/database/database.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dt::store {

// Mean seconds of a step by phase: input, forward, backward, communication, optimizer. `step` is the whole step; what the phases
// leave of it is time that no phase accounts for.
using PhaseTimes = std::map<std::string, double>;

// A point of a study with the means over the workers of its succeeded runs.
struct PointPhases {
  std::string label; // without the size
  std::int64_t nodes = 0, ranks = 0;
  std::int64_t runs = 0;
  PhaseTimes phases;
};
// By label and size, without A/A controls. `labels`: only these; empty: all.
std::vector<PointPhases> phases_of_points(Database& database, const std::string& study_id,
                                          const std::vector<std::string>& labels = {});

struct RankPhases {
  std::int64_t rank = 0;
  std::string role, host;
  PhaseTimes phases;
};
// The ranks of the run with this key; empty if it recorded none.
std::vector<RankPhases> phases_of_ranks(Database& database, const std::string& key);

} // namespace dt::store
