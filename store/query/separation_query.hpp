// When and where runs were measured, and which studies measured the same work: for comparisons across studies.
#pragma once

#include "store/analysis/doubts/separation.hpp"
#include "store/analysis/verdict/limit.hpp"
#include "store/database/database.hpp"

#include <string>
#include <vector>

namespace dt::store {

// Of the runs with these keys that have succeeded.
std::vector<Measured> measured_of(Database& database, const std::vector<std::string>& keys);

// The studies that measured the work of the runs with these two keys. Runs do the same work if all keys of the recipe that are
// part of a run's identity are equal, except train.seed, and so are their build and their data; they count if they ran on the
// same model of processor. The values are of the metric, which depends on the machine. Empty keys, and runs that are not stored,
// have no work.
Repetitions repetitions_of(Database& database, const std::string& key_a, const std::string& key_b, Metric metric);

} // namespace dt::store
