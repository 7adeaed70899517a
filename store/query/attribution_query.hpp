// Attribution of a stored study: where the efficiency of its points went.
#pragma once

#include "store/analysis/attribution.hpp"
#include "store/database/database.hpp"

#include <string>
#include <vector>

namespace dt::store {

// The attributions of the study with this id, from its stored runs. Empty if no succeeded run has the sums that they are computed
// from, because all were recorded by an older engine.
std::vector<Attribution> attributions_of_study(Database& database, const std::string& study_id);

} // namespace dt::store
