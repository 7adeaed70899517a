// When and where runs were measured, and which studies measured the same work: for comparisons across studies.
#pragma once

#include "store/analysis/doubts/separation.hpp"
#include "store/analysis/verdict/limit.hpp"
#include "store/database/database.hpp"

#include <set>
#include <string>
#include <vector>

namespace dt::store {

// Of the runs with these keys that have succeeded.
std::vector<Measured> measured_of(Database& database, const std::vector<std::string>& keys);

// The studies that measured the work of the runs with these two keys. Runs do the same work if all keys of the recipe that are
// part of a run's identity are equal, except train.seed, and so are their build and their data; they count if they ran on the
// same model of processor. The values are of the metric, which depends on the machine. Empty keys, and runs that are not stored,
// have no work. `left_out`: ids of the studies that are judged.
Repetitions repetitions_of(Database& database, const std::string& key_a, const std::string& key_b, Metric metric,
                           const std::set<std::string>& left_out);

// A succeeded run of one recipe, whenever and by whichever build it was measured.
struct TrendRun {
  std::string key, study; // study: id of the study that asked for the run
  double begin_unix_s = not_measured;
  double value = not_measured; // of the metric; infinite: the run missed its target
};
// The runs of the home that have the recipe of the run with this key, in the order of their begin: all keys of the recipe that
// are part of a run's identity are equal, except train.seed, and so are their data. Runs without a value are left out.
std::vector<TrendRun> runs_of_recipe(Database& database, const std::string& key, Metric metric);
// Of the runs with these keys, the first of each recipe, in their order, with how many of them have it.
struct RecipeOfRuns {
  std::string key;
  std::size_t runs = 0;
};
std::vector<RecipeOfRuns> recipes_of(Database& database, const std::vector<std::string>& keys);

} // namespace dt::store
