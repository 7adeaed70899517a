// Functions that every statement of a connection may call, also those of the user (dtctl query). docs/database.md describes them.
#pragma once

struct sqlite3;

namespace dt::store {

// natural_key(TEXT), for ORDER BY natural_key(label), and the aggregates geometric_mean(X), median(X) and time_to_target(TIME_S,
// REACHED). The aggregates leave out NULL, and are NULL if nothing is left.
void add_sql_functions(sqlite3* database);

} // namespace dt::store
