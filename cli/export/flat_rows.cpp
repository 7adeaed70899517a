#include "cli/export/flat_rows.hpp"

#include "cli/output/store_tables.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace dt::cli {
namespace {

constexpr std::size_t keys_a_query = 400;

std::string quoted_list(const std::vector<std::string>& keys, std::size_t begin, std::size_t end)
{
  std::string list;
  for (auto i = begin; i < end; ++i) list += (i == begin ? "'" : ",'") + keys[i] + "'"; // hexadecimal digits need no escaping
  return list;
}

} // namespace

FlatRows::FlatRows(store::Table table) : table_(std::move(table))
{
  for (std::size_t i = 0; i < table_.columns.size(); ++i) columns_.emplace(table_.columns[i], i);
}

const store::Cell& FlatRows::cell(std::size_t row, const std::string& column) const
{
  const auto found = columns_.find(column);
  if (found == columns_.end()) throw Error(ErrorKind::internal, "runs_flat has no column " + column);
  return table_.rows[row][found->second];
}

std::string FlatRows::text(std::size_t row, const std::string& column) const { return text_of(cell(row, column)); }

double FlatRows::number(std::size_t row, const std::string& column) const
{
  const auto& value = cell(row, column);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::numeric_limits<double>::quiet_NaN();
}

double samples_of_step(const FlatRows& rows, std::size_t row)
{
  const double reported = rows.number(row, "step_samples");
  return std::isnan(reported) ? rows.number(row, "global_batch") : reported;
}

FlatRows flat_rows(ResultsStore& results, const Selection& selection)
{
  const auto keys = keys_of(selection.runs);
  const auto which = selection.study ? "study_key = '" + selection.study->id + "'" : std::string("newest");
  const store::QueryLimits limits{.time_s = 600, .rows = 10'000'000};
  auto table = store::query(results.database(), "SELECT * FROM runs_flat LIMIT 0", limits);
  for (std::size_t begin = 0; begin < keys.size(); begin += keys_a_query) {
    const auto list = quoted_list(keys, begin, std::min(keys.size(), begin + keys_a_query));
    auto part = store::query(results.database(),
                             "SELECT * FROM runs_flat WHERE " + which + " AND key IN (" + list + ") ORDER BY position", limits);
    std::move(part.rows.begin(), part.rows.end(), std::back_inserter(table.rows));
  }
  return FlatRows(std::move(table));
}

} // namespace dt::cli
