#include "store/query/compared_runs.hpp"

#include "core/text.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/conditions.hpp"
#include "store/query/dependences.hpp"
#include "store/query/key_list.hpp"
#include "store/query/scaling_query.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {
namespace {

std::vector<std::string> keys_of(const std::vector<RunRow>& rows)
{
  std::vector<std::string> keys;
  for (const auto& row : rows) keys.push_back(row.key);
  return keys;
}

// Columns of a run that a comparison needs and a RunRow does not have.
struct Rest {
  std::string engine_build, data_id, block, value, platform;
  double modelled_rate = 0;
  std::int64_t seed = 0;
};

std::map<std::string, Rest> rests_of(Connection& connection, const std::vector<RunRow>& rows, const std::string& column)
{
  const auto value = column.empty() ? std::string("''") : "runs_results.\"" + column + "\"";
  auto statement = connection.statement("SELECT runs_results.key, train_modelled_rate, engine_build, data_id, " +
                                        std::string(ladder_block) + ", CAST(" + value +
                                        " AS TEXT), resources_platform, train_seed FROM json_each(?) AS wanted JOIN "
                                        "runs_results ON runs_results.key = wanted.value LEFT JOIN attempts ON "
                                        "attempts.run_id = runs_results.run_id AND attempts.attempt = runs_results.attempt");
  statement.bind(json_list(keys_of(rows)));
  std::map<std::string, Rest> rests;
  while (statement.next())
    rests[statement.text(0)] = {statement.text(2), statement.text(3), statement.text(4),   statement.text(5),
                                statement.text(6), statement.real(1), statement.integer(7)};
  return rests;
}

ComparedRun compared_run(const RunRow& row, const Rest& rest)
{
  return {.key = row.key,
          .series = row.series,
          .value = rest.value,
          .nodes = row.nodes,
          .ranks = row.ranks,
          .repeat = row.repeat,
          .seed = rest.seed,
          .is_control = row.is_control,
          .succeeded = row.state == RunState::succeeded,
          .has_diverged = row.has_diverged(),
          .knows_target = row.knows_target(),
          .block = rest.block,
          .model = row.model,
          .data_id = rest.data_id,
          .engine_build = rest.engine_build,
          .global_batch = row.global_batch,
          .target_accuracy = row.target_accuracy,
          .modelled_rate = std::isnan(rest.modelled_rate) ? 0 : rest.modelled_rate,
          .platform = rest.platform,
          .throughput = row.figure("throughput"),
          .step_s = row.figure("step_p50_s"),
          .accuracy = row.figure("accuracy"),
          .time_to_accuracy_s = row.figure("time_to_accuracy_s"),
          .wall_s = row.figure("wall_s")};
}

} // namespace

std::vector<ComparedRun> compared_runs(Database& database, const std::vector<RunRow>& rows, const std::string& key)
{
  const auto column = key.empty() ? std::string() : column_of_key(database, key);
  const auto rests = rests_of(database.impl().connection, rows, column);
  auto dependences = dependences_of(database.impl().connection, keys_of(rows));
  std::vector<ComparedRun> runs;
  for (const auto& row : rows) {
    const auto rest = rests.find(row.key);
    if (rest == rests.end()) continue;
    runs.push_back(compared_run(row, rest->second));
    runs.back().depends_on = std::move(dependences[row.key]);
  }
  return runs;
}

std::set<std::string> python_environments(Database& database, const std::vector<ComparedRun>& runs)
{
  std::vector<std::string> keys;
  for (const auto& run : runs)
    if (run.succeeded) keys.push_back(run.key);
  auto statement = database.impl().connection.statement(
      "SELECT DISTINCT coalesce(iif(environment.value LIKE 'unknown%', '', environment.value), '') FROM json_each(?) AS wanted "
      "JOIN runs ON runs.key = wanted.value "
      "LEFT JOIN environment ON environment.run_id = runs.id AND environment.name = 'python_environment'");
  statement.bind(json_list(keys));
  std::set<std::string> ids;
  while (statement.next()) ids.insert(statement.text(0));
  return ids;
}

std::string column_of_key(Database& database, const std::string& key)
{
  std::vector<Column> columns;
  auto statement = database.impl().connection.statement("SELECT name FROM pragma_table_info('runs_results')");
  while (statement.next()) columns.push_back({statement.text(0), false});
  return find_column(key, "--by " + printable(key), columns).name;
}

std::map<std::string, double> samples_to_target(const std::vector<RunRow>& rows)
{
  std::map<std::string, double> samples;
  for (const auto& row : rows)
    if (const double value = row.figure("samples_to_accuracy"); value > 0) samples[row.key] = value;
  return samples;
}

} // namespace dt::store
