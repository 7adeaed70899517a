// Brings a database file to the schema of this dtctl (store/database/schema.cpp).
//
// A recorded figure or a recipe key that is new is a new row of a table of fields or keys, and so a new column of the schema. A
// file that lacks it gets the column when it is opened for writing; nothing is written by hand for that.
#pragma once

#include "store/database/sqlite.hpp"

namespace dt::store {

// Returns the file's format, or 0 if it is empty. Throws an environment error if the file is from a newer dtctl or another
// program.
int schema_version(Connection& connection);

// Whether the file has the tables, columns and views of this dtctl, and has lost none of them since.
bool is_current(Connection& connection);

// Creates the schema in an empty file, or adds to an older file what it lacks, in one transaction. Safe when two processes do it
// at once.
void migrate(Connection& connection);

} // namespace dt::store
