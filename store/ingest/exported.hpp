// The runs of a file of `dtctl export --format json` in a database of their own, so that the queries that read the home's runs
// read them, too.
#pragma once

#include "store/database/database.hpp"

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace dt::store {

// The rows that these runs have in the tables attempts, ranks, environment and machine_loads (of attempts, the current one only),
// by the table's name. A comparison reads them, and the view runs_flat does not contain them. The column `key` names the run.
std::vector<std::pair<std::string, Table>> rows_beside_runs(Database& database, const std::vector<std::string>& keys);

// A database in memory with the runs of such a document. `place` names it in errors. Runs of a dtctl that exported only `runs`
// have no more than runs_flat says of them. Throws a usage error that names the row if the document cannot be taken in.
Database database_of_export(const nlohmann::json& document, const std::string& place);

} // namespace dt::store
