// Scaling of a stored study, for readers and for the table that the ingest writes.
#pragma once

#include "store/analysis/scaling.hpp"
#include "store/database/sqlite.hpp"

#include <string>
#include <vector>

namespace dt::store {

// The points of the study with this key, from its stored runs.
std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key);

} // namespace dt::store
