#include "store/database/migrations.hpp"

#include "core/error.hpp"
#include "core/hash.hpp"
#include "store/database/schema.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace dt::store {
namespace {

constexpr std::int64_t application_id = 0x64746374; // "dtct": distinguishes dtctl's files from other SQLite files

const std::string& schema_text()
{
  static const std::string text = schema();
  return text;
}

std::string schema_hash()
{
  static const std::string hash = [] {
    Hasher hasher;
    hasher.update(schema_text());
    return hasher.hex();
  }();
  return hash;
}

// The names of the tables, views and indexes that dtctl makes.
const std::set<std::string>& own_names()
{
  static const std::set<std::string> names = [] {
    std::set<std::string> found;
    std::istringstream words(schema_text());
    for (std::string before, word, name; words >> word; before = word)
      if (before == "CREATE" && (word == "TABLE" || word == "VIEW" || word == "INDEX") && words >> name) found.insert(name);
    return found;
  }();
  return names;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The rows of a query with two columns of text and one parameter.
Pairs pairs_of(Connection& connection, const std::string& query, const std::string& parameter)
{
  Pairs pairs;
  auto statement = connection.statement(query);
  statement.bind(parameter);
  while (statement.next()) pairs.emplace_back(statement.text(0), statement.text(1));
  return pairs;
}

// Name and type of every column of the table.
Pairs columns_of(Connection& connection, const std::string& table)
{
  return pairs_of(connection, "SELECT name, type FROM pragma_table_info(?)", table);
}

// Name and SQL of every entry of that type.
Pairs entries_of(Connection& connection, const std::string& type)
{
  return pairs_of(connection, "SELECT name, sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL", type);
}

// A hash of what the file has of dtctl's tables, views and indexes. Others may add some of their own.
std::string hash_of_file(Connection& connection)
{
  Hasher hasher;
  auto entries = connection.statement("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");
  while (entries.next())
    if (own_names().contains(entries.text(0))) hasher.update(entries.text(0) + "\n" + entries.text(1) + "\n");
  return hasher.hex();
}

bool holds(const Pairs& pairs, const std::string& name)
{
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
}

void change_tables(Connection& connection, Connection& wanted)
{
  const auto present = entries_of(connection, "table");
  for (const auto& [table, sql] : entries_of(wanted, "table")) {
    if (!holds(present, table)) {
      connection.execute(sql);
      continue;
    }
    const auto columns = columns_of(connection, table), wanted_columns = columns_of(wanted, table);
    for (const auto& [column, type] : wanted_columns)
      if (!holds(columns, column)) connection.execute("ALTER TABLE " + table + " ADD COLUMN " + column + " " + type);
    for (const auto& [column, type] : columns)
      if (!holds(wanted_columns, column)) connection.execute("ALTER TABLE " + table + " DROP COLUMN " + column);
  }
}

// Tables get the columns that the rows of core/record and core/spec describe now, and lose the others. Views and indexes are made
// again. Every run and study is marked to be taken in again (runs_to_read_again), so that the new columns are filled from the
// folders.
void update(Connection& connection)
{
  Connection wanted("schema", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, 0);
  wanted.execute(schema_text());
  for (const auto& [view, sql] : entries_of(connection, "view")) connection.execute("DROP VIEW " + view);
  for (const auto& [index, sql] : entries_of(connection, "index")) connection.execute("DROP INDEX " + index);
  change_tables(connection, wanted);
  for (const auto* type : {"index", "view"})
    for (const auto& [name, sql] : entries_of(wanted, type)) connection.execute(sql);
  connection.execute("UPDATE runs SET fingerprint = ''");
  connection.execute("UPDATE studies SET points_current = -1");
}

} // namespace

int latest_version() { return 1; }

int schema_version(Connection& connection)
{
  const auto name = connection.file().string();
  // One statement reads one snapshot: another process may be creating the file now.
  auto marks = connection.statement("SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) "
                                    "FROM pragma_user_version, pragma_application_id");
  marks.next();
  const auto version = marks.integer(0), owner = marks.integer(1), entries = marks.integer(2);
  marks.finish();
  const bool empty = version == 0 && owner == 0 && entries == 0;
  if (!empty && owner != application_id)
    throw Error(ErrorKind::environment,
                name + " is another program's database. Move it away, or set DTCTL_HOME to another folder");
  if (version > latest_version())
    throw Error(ErrorKind::environment,
                name + " has format " + std::to_string(version) + ", but this dtctl supports formats up to " +
                    std::to_string(latest_version()) +
                    ": a newer dtctl wrote it. Use that version, or move the file away and run: dtctl db rebuild");
  return static_cast<int>(version);
}

bool is_current(Connection& connection)
{
  if (schema_version(connection) != latest_version()) return false;
  constexpr const char* has_both = "SELECT count(*) FROM pragma_table_info('format') WHERE name IN ('schema_hash', 'file_hash')";
  return connection.integer_of(has_both) == 2 && connection.text_of("SELECT schema_hash FROM format") == schema_hash() &&
         connection.text_of("SELECT file_hash FROM format") == hash_of_file(connection);
}

void migrate(Connection& connection)
{
  Transaction transaction(connection);
  const bool is_new = schema_version(connection) == 0;
  // Another process may have done it before this one got the lock.
  if (!is_new && is_current(connection)) return;
  is_new ? connection.execute(schema_text()) : update(connection);
  connection.execute("DELETE FROM format");
  connection.statement("INSERT INTO format (schema_hash, file_hash) VALUES (?, ?)").run(schema_hash(), hash_of_file(connection));
  connection.execute("PRAGMA application_id = " + std::to_string(application_id));
  connection.execute("PRAGMA user_version = " + std::to_string(latest_version()));
  transaction.commit();
}

} // namespace dt::store
