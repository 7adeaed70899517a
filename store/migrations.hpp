// The schema, as numbered steps from an empty file. A step that has been released is never edited: a change is a new step.
#pragma once

#include "store/sqlite.hpp"

#include <string>
#include <vector>

namespace dt::store {

struct Migration {
  int version;           // the file's version after it
  std::string what; // for `db migrate`
  std::string sql;
};

// Step 4, a file of its own: store/cluster_runs.cpp.
Migration cluster_runs();
// Step 5: store/strategy_runs.cpp.
Migration strategy_runs();
// Step 6: store/compute_runs.cpp.
Migration compute_runs();
// Step 7: store/worker_counts.cpp.
Migration worker_counts();
// Step 8: store/machine_loads.cpp.
Migration machine_loads();

// Drops the views runs_results and runs_flat and makes them again with a column for every key of the recipe. A step that adds
// columns of runs or results ends with it. Views may name columns that a later step adds; nobody reads them in between.
std::string run_views();

// Ascending from 1 without gaps.
const std::vector<Migration>& migrations();

// The file's version; 0 when it is empty. An environment error when it is of a newer dtctl or of another program.
int schema_version(Connection& connection);

// Applies what is missing up to `target`, one transaction a step. Safe when two processes do it at once.
void migrate(Connection& connection, int target);

} // namespace dt::store
