#include "store/database/sql_functions.hpp"

#include "core/maths/statistics.hpp"
#include "core/natural_key.hpp"
#include "core/record/field.hpp"
#include "store/analysis/statistics/candidate.hpp"

#include <limits>
#include <new>
#include <vector>

#include <sqlite3.h>

namespace dt::store {
namespace {

void natural_key_function(sqlite3_context* context, int, sqlite3_value** values)
{
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  if (text == nullptr) return sqlite3_result_null(context);
  try {
    const auto key = natural_key({text, static_cast<std::size_t>(sqlite3_value_bytes(values[0]))});
    sqlite3_result_text64(context, key.data(), key.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

using Values = std::vector<double>;

// The values of a group, which SQLite keeps as one pointer; null if there is no memory.
Values** values_of(sqlite3_context* context)
{
  return static_cast<Values**>(sqlite3_aggregate_context(context, sizeof(Values*)));
}

void add(sqlite3_context* context, double value)
{
  auto** values = values_of(context);
  if (values == nullptr) return sqlite3_result_error_nomem(context);
  try {
    if (*values == nullptr) *values = new Values;
    (*values)->push_back(value);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// X
void add_value(sqlite3_context* context, int, sqlite3_value** values)
{
  if (sqlite3_value_type(values[0]) != SQLITE_NULL) add(context, sqlite3_value_double(values[0]));
}

// TIME_S, REACHED: the columns time_to_accuracy_s and reached_target. A miss counts as infinite.
void add_time(sqlite3_context* context, int, sqlite3_value** values)
{
  if (sqlite3_value_type(values[1]) == SQLITE_NULL) return;
  if (sqlite3_value_int(values[1]) == 0) return add(context, std::numeric_limits<double>::infinity());
  add_value(context, 1, values);
}

double geometric_mean(const Values& values)
{
  for (const double value : values)
    if (!(value > 0)) return not_measured; // it has no logarithm
  return centre_of({.name = {}, .values = values}, Scale::ratio);
}

double time_to_target(const Values& times) { return centre_of({.name = {}, .values = times}, Scale::time_to_target); }

template<auto centre> void finish(sqlite3_context* context)
{
  auto** values = static_cast<Values**>(sqlite3_aggregate_context(context, 0)); // null: the group has no rows
  if (values == nullptr || *values == nullptr) return sqlite3_result_null(context);
  try {
    sqlite3_result_double(context, centre(**values)); // NaN becomes NULL
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
  delete *values;
}

double median_of(const Values& values) { return median(values); }

} // namespace

void add_sql_functions(sqlite3* database)
{
  constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  sqlite3_create_function_v2(database, "natural_key", 1, flags, nullptr, natural_key_function, nullptr, nullptr, nullptr);
  const auto add_aggregate = [&](const char* name, int values, auto step, auto final) {
    sqlite3_create_function_v2(database, name, values, flags, nullptr, nullptr, step, final, nullptr);
  };
  add_aggregate("geometric_mean", 1, add_value, finish<geometric_mean>);
  add_aggregate("median", 1, add_value, finish<median_of>);
  add_aggregate("time_to_target", 2, add_time, finish<time_to_target>);
}

} // namespace dt::store
