#include "store/query/compared_runs.hpp"

#include "core/text.hpp"
#include "store/analysis/statistics/run_conditions.hpp"
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
  std::string engine_build, data_id, value;
};

std::map<std::string, Rest> rests_of(Connection& connection, const std::vector<RunRow>& rows, const std::string& column)
{
  const auto value = column.empty() ? std::string("''") : "runs_results.\"" + column + "\"";
  auto statement = connection.statement("SELECT runs_results.key, engine_build, data_id, CAST(" + value +
                                        " AS TEXT) AS value FROM json_each(?) AS wanted JOIN runs_results ON "
                                        "runs_results.key = wanted.value");
  statement.bind(json_list(keys_of(rows)));
  std::map<std::string, Rest> rests;
  while (statement.next())
    rests[statement.text("key")] = {statement.text("engine_build"), statement.text("data_id"), statement.text("value")};
  return rests;
}

std::set<std::string> hosts_of(const RunRow& row)
{
  const auto hosts = split(row.hosts, ',');
  std::set<std::string> known(hosts.begin(), hosts.end());
  known.erase("");
  return known;
}

Run figures_of(const RunRow& row)
{
  const double samples = row.samples_of_step();
  return {.key = row.key,
          .series = row.series,
          .value = {},
          .nodes = row.nodes,
          .ranks = row.ranks,
          .workers = row.workers,
          .repeat = row.repeat,
          .seed = row.seed,
          .is_control = row.is_control,
          .succeeded = row.state == RunState::succeeded,
          .has_diverged = row.has_diverged(),
          .copies = row.copies,
          .knows_target = row.knows_target(),
          .block = row.block,
          .begin_unix_s = row.begin_unix_s,
          .hosts = hosts_of(row),
          .is_exact = row.is_exact,
          .model = row.model,
          .data_id = {},
          .engine_build = {},
          .global_batch = std::isnan(samples) ? 0 : std::llround(samples),
          .target_accuracy = row.target_accuracy,
          .modelled_rate = std::isnan(row.modelled_rate) ? 0 : row.modelled_rate,
          .platform = row.platform,
          .throughput = row.figure("throughput"),
          .step_s = row.figure("step_p50_s"),
          .accuracy = row.figure("accuracy"),
          .eval_loss = row.figure("eval_loss"),
          .communication_share = row.figure("communication_share"),
          .time_to_accuracy_s = row.figure("time_to_accuracy_s"),
          .wall_s = row.figure("wall_s"),
          .samples_to_accuracy = row.figure("samples_to_accuracy"),
          .joules_per_sample = row.figure("energy.joules_per_sample"),
          .mfu = row.figure("mfu")};
}

} // namespace

std::vector<Run> figures_of(const std::vector<RunRow>& rows)
{
  std::vector<Run> runs;
  runs.reserve(rows.size());
  std::map<std::string, std::vector<Run*>> of_studies; // without controls
  for (const auto& row : rows) {
    runs.push_back(figures_of(row));
    if (!row.is_control && !row.study.empty()) of_studies[row.study].push_back(&runs.back()); // it stays there
  }
  for (const auto& [study, of_study] : of_studies) judge_conditions(of_study, study);
  return runs;
}

std::vector<Run> figures_in_studies(Database& database, const std::vector<RunRow>& rows)
{
  auto runs = figures_of(rows);
  std::map<std::string, std::vector<Run*>> of_studies;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].study.empty()) of_studies[rows[i].study].push_back(&runs[i]);
  for (const auto& [study, chosen] : of_studies) {
    const auto all_rows = runs_of_study(database, study);
    if (all_rows.size() <= chosen.size()) continue; // they are the whole study
    std::map<std::string, Run> all;
    for (auto& run : figures_of(all_rows)) all.emplace(run.key, run);
    for (auto* run : chosen)
      if (const auto found = all.find(run->key); found != all.end()) {
        run->is_outlying = found->second.is_outlying;
        run->block = found->second.block;
      }
  }
  return runs;
}

std::vector<Run> compared_runs(Database& database, const std::vector<RunRow>& rows, const std::string& key)
{
  const auto column = key.empty() ? std::string() : column_of_key(database, key);
  const auto rests = rests_of(database.impl().connection, rows, column);
  auto dependences = dependences_of(database.impl().connection, keys_of(rows));
  auto runs = figures_in_studies(database, rows);
  for (auto& run : runs) {
    if (const auto rest = rests.find(run.key); rest != rests.end()) {
      run.value = rest->second.value;
      run.data_id = rest->second.data_id;
      run.engine_build = rest->second.engine_build;
    }
    run.depends_on = std::move(dependences[run.key]);
  }
  return runs;
}

std::set<std::string> python_environments(Database& database, const std::vector<std::string>& keys)
{
  auto statement = database.impl().connection.statement(
      "SELECT DISTINCT coalesce(iif(environment.value LIKE 'unknown%', '', environment.value), '') FROM json_each(?) AS wanted "
      "JOIN runs ON runs.key = wanted.value AND runs.state = 'succeeded' "
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

} // namespace dt::store
