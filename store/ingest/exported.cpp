#include "store/ingest/exported.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/rows.hpp"
#include "store/query/key_list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace dt::store {
namespace {

using Json = nlohmann::json;

// A table beside runs_flat, and whether its rows are of an attempt.
struct Beside {
  std::string_view name;
  bool is_of_attempt;
};
constexpr std::array<Beside, 4> beside_runs{
    {{"attempts", true}, {"ranks", false}, {"environment", false}, {"machine_loads", true}}};

// The columns of runs_flat that have another name in their table.
using Renamed = std::map<std::string, std::string>;
const Renamed study_names{{"key", "study_key"}, {"name", "study"}, {"submitted_unix_s", "study_submitted_unix_s"}};
const Renamed run_names{{"name", "recipe"}, {"label", "recipe_label"}};
const Renamed attempt_names{{"restart", "restarts"}};

struct TableColumn {
  std::string name;
  std::string type;
  bool is_required; // NOT NULL without a default
};

std::vector<TableColumn> table_columns(Connection& connection, std::string_view table)
{
  auto statement = connection.statement("SELECT name, type, \"notnull\" AND dflt_value IS NULL AS is_required FROM "
                                        "pragma_table_info(?)");
  statement.bind(table);
  std::vector<TableColumn> columns;
  while (statement.next())
    columns.push_back({statement.text("name"), statement.text("type"), statement.integer("is_required") != 0});
  return columns;
}

Cell cell_of(const Json& value)
{
  if (value.is_null()) return {};
  if (value.is_number_integer() || value.is_boolean()) return value.is_boolean() ? value.get<bool>() : value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Writes objects of one document as rows of a table.
class TableWriter {
 public:
  TableWriter(Connection& connection, std::string table, Renamed renamed = {})
      : connection_(connection), table_(std::move(table)), renamed_(std::move(renamed)),
        columns_(table_columns(connection, table_))
  {
  }

  // Writes one row: `more`, and the members of the object that the table has columns for.
  void write(const Json& object, const std::map<std::string, Cell>& more = {}) const
  {
    std::vector<std::string> names;
    std::vector<Cell> cells;
    for (const auto& column : columns_) {
      auto cell = value_of(column, object, more);
      if (!cell) continue;
      names.push_back(column.name);
      cells.push_back(std::move(*cell));
    }
    auto statement = connection_.statement(insert_into(table_, names));
    for (std::size_t i = 0; i < cells.size(); ++i) statement.bind_at(static_cast<int>(i) + 1, cells[i]);
    statement.finish();
  }

  bool has_any(const Json& object) const
  {
    return std::ranges::any_of(columns_, [&](const auto& column) {
      const auto member = object.find(column.name);
      return column.name != "attempt" && member != object.end() && !member->is_null();
    });
  }

 private:
  std::optional<Cell> value_of(const TableColumn& column, const Json& object, const std::map<std::string, Cell>& more) const
  {
    if (const auto own = more.find(column.name); own != more.end()) return own->second;
    if (column.name == "id") return std::nullopt;
    const auto renamed = renamed_.find(column.name);
    const auto member = object.find(renamed == renamed_.end() ? column.name : renamed->second);
    if (member != object.end() && !member->is_null()) return cell_of(*member);
    if (!column.is_required) return std::nullopt;
    return column.type == "TEXT" ? Cell("") : Cell(std::int64_t{0});
  }

  Connection& connection_;
  std::string table_;
  Renamed renamed_;
  std::vector<TableColumn> columns_;
};

class ExportReader {
 public:
  ExportReader(Connection& connection, const Json& document, const std::string& place)
      : connection_(connection), document_(document), place_(place), studies_(connection, "studies", study_names),
        runs_(connection, "runs", run_names), attempts_(connection, "attempts", attempt_names), results_(connection, "results"),
        members_(connection, "study_runs")
  {
  }

  void read()
  {
    const bool has_attempts = document_.contains(beside_runs.front().name);
    for_each("runs", [&](const Json& row) { take_run(row, has_attempts); });
    for (const auto& [name, is_of_attempt] : beside_runs) {
      const TableWriter writer(connection_, std::string(name));
      for_each(name, [&](const Json& row) { writer.write(row, {{"run_id", run_of(row)}}); });
    }
  }

 private:
  template<class Work> void for_each(std::string_view name, Work work)
  {
    const auto list = document_.find(name);
    if (list == document_.end()) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      try {
        work((*list)[i]);
      } catch (const Error& error) {
        throw Error(ErrorKind::usage, fmt::format("{}: row {} of \"{}\" {}", place_, i + 1, name, error.what()));
      }
    }
  }

  static std::string text_of(const Json& row, const char* member)
  {
    const auto found = row.is_object() ? row.find(member) : row.end();
    if (found == row.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
      throw Error(ErrorKind::usage, fmt::format("has no text \"{}\"", member));
    return found->get<std::string>();
  }

  Cell run_of(const Json& row) const
  {
    const auto found = ids_.find(text_of(row, "key"));
    if (found == ids_.end()) throw Error(ErrorKind::usage, "is of a run that is not in \"runs\"");
    return found->second;
  }

  void take_run(const Json& row, bool has_attempts)
  {
    const auto key = text_of(row, "key");
    text_of(row, "state");
    const auto [id, is_new] = ids_.emplace(key, static_cast<std::int64_t>(ids_.size()) + 1);
    const std::map<std::string, Cell> of_run{{"run_id", id->second}};
    if (is_new) {
      runs_.write(row, {{"id", id->second}});
      if (results_.has_any(row)) results_.write(row, of_run);
      if (!has_attempts) attempts_.write(row, of_run);
    }
    if (row.contains("study_key") && row["study_key"].is_string()) take_membership(row, id->second);
  }

  void take_membership(const Json& row, std::int64_t run)
  {
    const auto [study, is_new] = studies_known_.emplace(row["study_key"], static_cast<std::int64_t>(studies_known_.size()) + 1);
    if (is_new) studies_.write(row, {{"id", study->second}});
    members_.write(row, {{"study_id", study->second}, {"run_id", run}});
  }

  Connection& connection_;
  const Json& document_;
  const std::string& place_;
  TableWriter studies_, runs_, attempts_, results_, members_;
  std::map<std::string, std::int64_t> ids_, studies_known_;
};

} // namespace

std::vector<std::pair<std::string, Table>> rows_beside_runs(Database& database, const std::vector<std::string>& keys)
{
  auto& connection = database.impl().connection;
  std::vector<std::pair<std::string, Table>> tables;
  for (const auto& [name, is_of_attempt] : beside_runs) {
    Table table{.columns = {"key"}, .rows = {}};
    std::string columns = "runs.key";
    for (const auto& column : table_columns(connection, name)) {
      if (column.name == "run_id") continue;
      table.columns.push_back(column.name);
      columns += ", own.\"" + column.name + "\"";
    }
    auto statement = connection.statement(
        fmt::format("SELECT {} FROM json_each(?) AS wanted JOIN runs ON runs.key = wanted.value JOIN {} AS own ON own.run_id = "
                    "runs.id{} ORDER BY wanted.key",
                    columns, name, is_of_attempt ? " AND own.attempt = runs.attempt" : ""));
    statement.bind(json_list(keys));
    while (statement.next()) {
      auto& row = table.rows.emplace_back();
      for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.cell(i));
    }
    tables.emplace_back(name, std::move(table));
  }
  return tables;
}

Database database_of_export(const nlohmann::json& document, const std::string& place)
{
  Database database(place, Access::in_memory);
  database.impl().write([&](Connection& connection) { ExportReader(connection, document, place).read(); });
  return database;
}

} // namespace dt::store
