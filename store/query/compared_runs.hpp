// The runs that a comparison needs, from the database.
#pragma once

#include "store/analysis/statistics/run.hpp"
#include "store/query/queries.hpp"

#include <set>
#include <string>
#include <vector>

namespace dt::store {

// The runs with the figures of `rows`, which are all runs of their studies, for a verdict on them. They lack what tells whether a
// comparison is fair: data, build and what a program depended on. Nothing is read from the database.
std::vector<Run> figures_of(const std::vector<RunRow>& rows);

// The same of rows that may be a part of their studies: what makes an outlier, and a round, is told by all runs of a study.
std::vector<Run> figures_in_studies(Database& database, const std::vector<RunRow>& rows);

// The same with everything that a Run has. `key` is a column of runs_flat or a recipe's key (sync.strategy), whose values
// are compared; empty: none. An unknown key is a usage error that names the nearest column.
std::vector<Run> compared_runs(Database& database, const std::vector<RunRow>& rows, const std::string& key);

// Ids of the Python environments in which those of these runs ran that have succeeded (core/program/environment.hpp); "" where
// one is not known.
std::set<std::string> python_environments(Database& database, const std::vector<std::string>& keys);

// The column of runs_flat that a key names: "sync.strategy" is sync_strategy, and "period" is sync_period. An unknown or
// ambiguous key is a usage error.
std::string column_of_key(Database& database, const std::string& key);

} // namespace dt::store
