#include "store/query/separation_query.hpp"

#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "store/database/schema.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/key_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace dt::store {
namespace {

// The names of facts in the table `environment`, and in Measured.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> fact_columns{{{"cpu_model", "processors"},
                                                                                     {"kernel", "kernels"},
                                                                                     {"clock_governor", "clock governors"},
                                                                                     {"mpi_version", "MPI libraries"},
                                                                                     {"dnnl_version", "oneDNN versions"},
                                                                                     {"compiler", "compilers"},
                                                                                     {"niceness", "niceness"},
                                                                                     {"limits", "resource limits"}}};

std::string build_text(const std::string& build)
{
  constexpr std::string_view files = "files-";
  return build.starts_with(files) ? "files " + short_key(std::string_view(build).substr(files.size())) : short_key(build);
}

// By key: the runs that have succeeded, with their times and builds.
std::map<std::string, Measured> times_of(Connection& connection, const std::string& keys)
{
  auto s = connection.statement(
      "SELECT runs.key, attempts.study_key, begin_unix_s, coalesce(end_unix_s, begin_unix_s + results.wall_s) AS end_unix_s, "
      "engine_build, attempts.host, (SELECT max(coalesce(others_share, 0) + coalesce(steal_share, 0)) FROM machine_loads WHERE "
      "machine_loads.run_id = runs.id AND machine_loads.attempt = runs.attempt) AS busy_share FROM json_each(?) AS wanted "
      "JOIN runs ON runs.key = wanted.value JOIN results ON results.run_id = runs.id "
      "JOIN attempts ON attempts.run_id = runs.id AND attempts.attempt = runs.attempt WHERE runs.state = 'succeeded'");
  s.bind(keys);
  std::map<std::string, Measured> found;
  while (s.next()) {
    auto& run = found[s.text("key")];
    run = {.run = s.text("key"),
           .study = s.text("study_key"),
           .begin_unix_s = s.real("begin_unix_s"),
           .end_unix_s = s.real("end_unix_s"),
           .hosts = {},
           .busy_share = s.real("busy_share")};
    if (const auto build = s.text("engine_build"); !build.empty()) run.facts["builds"] = build_text(build);
    if (const auto host = s.text("host"); !host.empty()) run.hosts.insert(host);
  }
  return found;
}

void add_hosts(Connection& connection, const std::string& keys, std::map<std::string, Measured>& runs)
{
  auto s = connection.statement("SELECT DISTINCT runs.key, ranks.host FROM json_each(?) AS wanted JOIN runs ON runs.key = "
                                "wanted.value JOIN ranks ON ranks.run_id = runs.id WHERE ranks.host <> ''");
  s.bind(keys);
  while (s.next())
    if (const auto run = runs.find(s.text("key")); run != runs.end()) run->second.hosts.insert(s.text("host"));
}

void add_facts(Connection& connection, const std::string& keys, std::map<std::string, Measured>& runs)
{
  auto s = connection.statement("SELECT runs.key, environment.name, environment.value FROM json_each(?) AS wanted JOIN runs ON "
                                "runs.key = wanted.value JOIN environment ON environment.run_id = runs.id");
  s.bind(keys);
  while (s.next()) {
    const auto fact = std::find_if(fact_columns.begin(), fact_columns.end(),
                                   [&](const auto& column) { return column.first == s.text("name"); });
    const auto run = runs.find(s.text("key"));
    if (fact != fact_columns.end() && run != runs.end()) run->second.facts[std::string(fact->second)] = s.text("value");
  }
}

// The columns of `runs` that are equal in all runs of one recipe, by whichever build and with whichever seed.
std::vector<std::string> recipe_columns()
{
  std::vector<std::string> columns{"ranks", "data_id"};
  for (const auto* key : column_keys())
    if (key->identity && key->path != "train.seed") columns.push_back(column_of(*key));
  return columns;
}

// "(other.ranks IS this.ranks AND …)": whether two rows of `runs` do the same work, but perhaps by another build.
std::string same_recipe()
{
  std::vector<std::string> conditions;
  for (const auto& column : recipe_columns()) conditions.push_back("other." + column + " IS this." + column);
  return "(" + join(conditions, " AND ") + ")";
}

// One run of a repeated work.
struct RepeatedRun {
  std::string key, study, hosts;
  double begin_unix_s = not_measured, value = not_measured;
};

std::vector<RepeatedRun> runs_of_same_work(Connection& connection, const std::string& key, Metric metric)
{
  static const auto condition = same_recipe() + " AND other.engine_build IS this.engine_build";
  const std::string figure(metric_row(metric).column);
  auto s = connection.statement(
      "SELECT other.key, attempts.study_key, attempts.begin_unix_s, " + figure +
      " AS figure, (SELECT group_concat(host) FROM (SELECT DISTINCT host FROM ranks WHERE ranks.run_id = other.id ORDER BY "
      "host)) "
      "AS hosts FROM runs AS this JOIN runs AS other ON " +
      condition +
      " JOIN results ON results.run_id = other.id JOIN attempts ON attempts.run_id = other.id AND attempts.attempt = "
      "other.attempt "
      "LEFT JOIN environment AS here ON here.run_id = this.id AND here.name = 'cpu_model' "
      "LEFT JOIN environment AS there ON there.run_id = other.id AND there.name = 'cpu_model' "
      "WHERE this.key = ? AND other.state = 'succeeded' AND there.value IS here.value AND attempts.study_key <> '' AND "
      "results.diverged_step IS NULL");
  s.bind(key);
  std::vector<RepeatedRun> runs;
  while (s.next())
    if (const double value = s.real("figure"); value > 0 && std::isfinite(value))
      runs.push_back({.key = s.text("key"),
                      .study = s.text("study_key"),
                      .hosts = s.text("hosts"),
                      .begin_unix_s = s.real("begin_unix_s"),
                      .value = value});
  return runs;
}

RepeatedWork work_of(const std::vector<RepeatedRun>& runs)
{
  std::map<std::string, std::vector<double>> values;
  for (const auto& run : runs) values[run.study].push_back(run.value);
  RepeatedWork work;
  for (const auto& [study, of_study] : values) work.push_back({study, log_moments(of_study)});
  return work;
}

double longest_time(const std::vector<RepeatedRun>& runs)
{
  double first = not_measured, last = not_measured;
  for (const auto& run : runs) {
    first = std::fmin(first, run.begin_unix_s);
    last = std::fmax(last, run.begin_unix_s);
  }
  return last > first ? last - first : 0;
}

} // namespace

std::vector<Measured> measured_of(Database& database, const std::vector<std::string>& keys)
{
  auto& connection = database.impl().connection;
  const auto list = json_list(keys);
  auto by_key = times_of(connection, list);
  add_hosts(connection, list, by_key);
  add_facts(connection, list, by_key);
  std::vector<Measured> runs;
  for (auto& [key, run] : by_key) runs.push_back(std::move(run));
  return runs;
}

Repetitions repetitions_of(Database& database, const std::string& key_a, const std::string& key_b, Metric metric,
                           const std::set<std::string>& left_out)
{
  auto& connection = database.impl().connection;
  Repetitions repetitions;
  std::set<std::string> seen, host_sets;
  for (const auto& key : {key_a, key_b}) {
    if (key.empty() || seen.contains(key)) continue; // B does the same work as A
    auto runs = runs_of_same_work(connection, key, metric);
    for (const auto& run : runs) seen.insert(run.key);
    std::erase_if(runs, [&](const auto& run) { return left_out.contains(run.study); });
    for (const auto& run : runs) host_sets.insert(run.hosts);
    repetitions.works.push_back(work_of(runs));
    repetitions.longest_s = std::max(repetitions.longest_s, longest_time(runs));
  }
  repetitions.host_sets = host_sets.size();
  return repetitions;
}

std::vector<TrendRun> runs_of_recipe(Database& database, const std::string& key, Metric metric)
{
  static const auto condition = same_recipe();
  const auto& row = metric_row(metric);
  const auto figure = row.needs_target
                          ? "coalesce(" + std::string(row.column) +
                                ", iif(results.samples_to_accuracy = 0 AND other.train_target_accuracy > 0, 9e999, NULL))"
                          : std::string(row.column);
  auto s = database.impl().connection.statement(
      "SELECT other.key, attempts.study_key, attempts.begin_unix_s, " + figure +
      " AS figure FROM runs AS this JOIN runs AS other ON " + condition +
      " JOIN results ON results.run_id = other.id JOIN attempts ON attempts.run_id = other.id AND attempts.attempt = "
      "other.attempt WHERE this.key = ? AND other.state = 'succeeded'" +
      (row.is_of_training ? " AND results.diverged_step IS NULL" : "") + " ORDER BY attempts.begin_unix_s, other.key");
  s.bind(key);
  std::vector<TrendRun> runs;
  while (s.next())
    if (const double value = s.real("figure"), begin = s.real("begin_unix_s"); value > 0 && std::isfinite(begin))
      runs.push_back({s.text("key"), s.text("study_key"), begin, value});
  return runs;
}

std::vector<RecipeOfRuns> recipes_of(Database& database, const std::vector<std::string>& keys)
{
  // Beside min() alone, SQLite takes the other columns from the row that has it.
  static const auto query = "SELECT wanted.value AS key, min(wanted.key) AS place, count(*) AS runs FROM json_each(?) AS wanted "
                            "JOIN runs ON runs.key = wanted.value GROUP BY runs." +
                            join(recipe_columns(), ", runs.") + " ORDER BY place";
  auto s = database.impl().connection.statement(query);
  s.bind(json_list(keys));
  std::vector<RecipeOfRuns> recipes;
  while (s.next()) recipes.push_back({s.text("key"), static_cast<std::size_t>(s.integer("runs"))});
  return recipes;
}

} // namespace dt::store
