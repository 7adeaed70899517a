// Attribution of a stored study: where the efficiency of its points went.
#pragma once

#include "store/analysis/attribution.hpp"
#include "store/database/database.hpp"

#include <string>
#include <vector>

namespace dt::store {

// The attributions of the study with this id, from its stored runs. Empty if no succeeded run has the figures that they are
// computed from: an older dtengine recorded no sums of work, or a program of the user reports no throughput. `labels`: only
// these; empty: all.
std::vector<Attribution> attributions_of_study(Database& database, const std::string& study_id,
                                               const std::vector<std::string>& labels = {});

} // namespace dt::store
