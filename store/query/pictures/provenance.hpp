// Provenance: on which machines and with which software the runs of a study ran.
#pragma once

#include "store/database/database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::store {

// One value of one fact, and how many runs of the study have it. A fact that all runs share has one row.
struct Fact {
  std::string name, value;
  std::int64_t runs = 0;
};

// The recorded environment, engine build, data id, scheduler and first host of the study's runs, by name; of several values of a
// fact, the most frequent is the first.
std::vector<Fact> provenance_of(Database& database, const std::string& study_id);

} // namespace dt::store
