// The schema of the database. Columns of records and of recipe keys come from the tables of fields (core/record/fields.cpp) and
// of keys (core/spec/spec_schema.cpp).
#pragma once

#include "core/record/field.hpp"
#include "core/spec/spec_schema.hpp"
#include "store/database/sqlite.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// All tables, indexes and views, from an empty file.
std::string schema();

// "train.global_batch" -> "train_global_batch", the column of runs.
std::string column_of(const Key& key);

// The keys that have a column in runs: all that have a field, but for the study's own.
const std::vector<const Key*>& column_keys();

// Of the tables steps, evals and results: the figures of the row that are NaN or infinite, as JSON: {"loss":"NaN"}. NULL: none.
inline constexpr std::string_view not_finite_column = "not_finite";

// As it is stored: booleans as 0 and 1, lists and maps as JSON.
Cell cell_of(const FieldValue& value);

// INTEGER, REAL or TEXT.
std::string_view sql_type_of(const FieldValue& value);
template<class Record> std::string_view sql_type_of(const Field<Record>& field)
{
  const auto value = value_of(field, Record{});
  if (std::holds_alternative<double>(value) || std::holds_alternative<Reported>(value)) return "REAL";
  const bool is_whole =
      std::holds_alternative<bool>(value) || std::holds_alternative<int>(value) || std::holds_alternative<std::int64_t>(value);
  return is_whole ? "INTEGER" : "TEXT";
}

} // namespace dt::store
