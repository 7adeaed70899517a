#include "store/queries.hpp"

#include "core/error.hpp"
#include "store/conditions.hpp"
#include "store/scaling.hpp"
#include "store/sqlite.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace dt::store {
namespace {

// In the order in which run_row reads them.
constexpr const char* run_columns =
    "SELECT key, study_key, name, label, repeat, position, state, cause, model, data, strategy, allreduce, nodes, ranks, "
    "threads, "
    "global_batch, attempt, throughput, communication_share, accuracy, best_accuracy, time_to_accuracy_s, wall_s, final_loss, "
    "step_p50_s, end_unix_s IS NOT NULL FROM runs_flat ";

// The same of one study, straight from the tables: the view would make and sort all its columns first.
constexpr const char* study_run_rows =
    "SELECT runs.key, studies.key, study_runs.name, study_runs.label, runs.repeat, position, state, cause, model_name, "
    "data_name, "
    "sync_strategy, sync_allreduce, resources_nodes, ranks, resources_threads_per_rank, global_batch, runs.attempt, throughput, "
    "communication_share, accuracy, best_accuracy, time_to_accuracy_s, wall_s, final_loss, step_p50_s, "
    "EXISTS (SELECT 1 FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = runs.attempt AND end_unix_s IS NOT NULL) "
    "FROM studies "
    "JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
    "LEFT JOIN results ON results.run_id = runs.id "
    "WHERE studies.key = ? ORDER BY position";

RunState state_of(const std::string& name) { return run_state_of(name).value_or(RunState::unknown); }

RunRow run_row(const Statement& s)
{
  RunRow row;
  int at = 0;
  for (auto* text : {&row.key, &row.study, &row.name, &row.label}) *text = s.text(at++);
  row.repeat = s.integer(at++);
  row.position = s.integer(at++);
  row.state = state_of(s.text(at++));
  for (auto* text : {&row.cause, &row.model, &row.data, &row.strategy, &row.allreduce}) *text = s.text(at++);
  for (auto* number : {&row.nodes, &row.ranks, &row.threads, &row.global_batch}) *number = s.integer(at++);
  row.attempt = static_cast<int>(s.integer(at++));
  for (auto* number : {&row.throughput, &row.communication_share, &row.accuracy, &row.best_accuracy, &row.time_to_accuracy_s,
                       &row.wall_s, &row.final_loss, &row.step_p50_s})
    *number = s.real(at++);
  row.has_end = s.integer(at++) != 0;
  return row;
}

std::vector<RunRow> run_rows(Statement& statement)
{
  std::vector<RunRow> rows;
  while (statement.next()) rows.push_back(run_row(statement));
  return rows;
}

// "('failed', 'lost', …)": the final states that are no success.
std::string bad_states()
{
  std::string list;
  for (int i = 0; i <= static_cast<int>(RunState::unknown); ++i) {
    const auto state = static_cast<RunState>(i);
    if (is_final(state) && state != RunState::succeeded) list.append(list.empty() ? "('" : ", '").append(name_of(state)) += '\'';
  }
  return list + ")";
}

// Studies chosen by `which` (a FROM … tail on studies), with their runs counted.
std::string study_sql(const std::string& which)
{
  return "SELECT chosen.key, chosen.name, chosen.description, chosen.kind, created_unix_s, submitted_unix_s, count(runs.id), "
         "coalesce(sum(runs.state = 'succeeded'), 0), coalesce(sum(runs.state IN " +
         bad_states() + "), 0) FROM (SELECT * FROM studies " + which +
         ") AS chosen LEFT JOIN study_runs ON study_runs.study_id = chosen.id LEFT JOIN runs ON runs.id = study_runs.run_id "
         "GROUP BY chosen.id ORDER BY submitted_unix_s DESC, chosen.key";
}

std::vector<StudyRow> study_rows(Statement& s)
{
  std::vector<StudyRow> rows;
  while (s.next())
    rows.push_back({s.text(0), s.text(1), s.text(2), s.text(3), s.real(4), s.real(5), s.integer(6), s.integer(7), s.integer(8)});
  return rows;
}

// A text greater than every key that starts with `prefix`: keys are hexadecimal.
std::string after_prefix(const std::string& prefix) { return prefix + "~"; }

// One range of keys at a time: only plain comparisons reach the index through the view's arms, an IN (SELECT …) does not.
std::vector<RunRow> runs_with_keys(Connection& connection, const std::string& from, const std::string& before)
{
  auto statement = connection.statement(std::string(run_columns) + "WHERE key >= ? AND key < ? AND newest");
  statement.bind(from, before);
  return run_rows(statement);
}

std::vector<std::string> keys_of_name(Connection& connection, const std::string& name)
{
  std::vector<std::string> keys;
  auto statement = connection.statement(
      "SELECT DISTINCT runs.key FROM study_runs JOIN runs ON runs.id = study_runs.run_id WHERE study_runs.name = ?");
  statement.bind(name);
  while (statement.next()) keys.push_back(statement.text(0));
  return keys;
}

std::vector<Column> flat_columns(Connection& connection)
{
  std::vector<Column> columns;
  auto statement =
      connection.statement("SELECT name, type IN ('INTEGER', 'REAL') OR name = 'newest' FROM pragma_table_info('runs_flat')");
  while (statement.next()) columns.push_back({statement.text(0), statement.integer(1) != 0});
  return columns;
}

// What the runs of one point measured; only succeeded runs count.
struct Point {
  ScalingRow row;
  std::vector<double> throughputs, shares, accuracies, times;
};

void add_measured(std::vector<double>& values, double value)
{
  if (!std::isnan(value)) values.push_back(value);
}

using PointKey = std::tuple<std::string, std::int64_t, std::int64_t>; // label, ranks, nodes

std::map<PointKey, Point> points_of_study(Connection& connection, const std::string& study_id)
{
  std::map<PointKey, Point> points;
  auto s =
      connection.statement("SELECT series, nodes, ranks, state, throughput, communication_share, accuracy, time_to_accuracy_s "
                           "FROM runs_flat WHERE study_key = ? AND ranks IS NOT NULL AND NOT control");
  s.bind(study_id);
  while (s.next()) {
    auto& point = points[{s.text(0), s.integer(2), s.integer(1)}];
    point.row.label = s.text(0);
    point.row.nodes = s.integer(1);
    point.row.ranks = s.integer(2);
    ++point.row.runs;
    if (state_of(s.text(3)) != RunState::succeeded) continue;
    ++point.row.succeeded;
    add_measured(point.throughputs, s.real(4));
    add_measured(point.shares, s.real(5));
    add_measured(point.accuracies, s.real(6));
    add_measured(point.times, s.real(7));
  }
  return points;
}

void summarise(Point& point)
{
  auto& row = point.row;
  row.throughput = median(point.throughputs);
  row.throughput_min = quantile(point.throughputs, 0);
  row.throughput_max = quantile(point.throughputs, 1);
  row.communication_share = median(point.shares);
  row.accuracy = median(point.accuracies);
  row.time_to_accuracy_s = median(point.times);
}

// Nodes when they are what varies at a fixed number of ranks a node, else ranks.
bool counts_nodes(const std::vector<Point*>& series)
{
  const auto& first = series.front()->row;
  const auto same_density = [&](const Point* p) { return p->row.ranks / p->row.nodes == first.ranks / first.nodes; };
  const auto same_nodes = [&](const Point* p) { return p->row.nodes == first.nodes; };
  return std::all_of(series.begin(), series.end(), same_density) && !std::all_of(series.begin(), series.end(), same_nodes);
}

// Speed-up and efficiency of the points of one label, smallest first, against the smallest one that was measured.
void relate(const std::vector<Point*>& series)
{
  const auto base = std::find_if(series.begin(), series.end(), [](const Point* p) { return !std::isnan(p->row.throughput); });
  if (base == series.end()) return;
  const bool nodes = counts_nodes(series);
  const auto size_of = [&](const Point* p) { return static_cast<double>(nodes ? p->row.nodes : p->row.ranks); };
  for (auto* point : series) {
    auto& row = point->row;
    row.speedup = speedup(row.throughput, (*base)->row.throughput, size_of(*base));
    row.efficiency = efficiency(row.throughput, size_of(point), (*base)->row.throughput, size_of(*base));
    auto interval = bootstrap_efficiency((*base)->throughputs, size_of(*base), point->throughputs, size_of(point));
    if (point == *base && !std::isnan(interval.low)) interval = {1, 1}; // by definition, not by measurement
    row.efficiency_low = interval.low;
    row.efficiency_high = interval.high;
  }
}

// Throughputs of a study's controls that succeeded, in the order in which they ran: those of one allocation, for only they are
// the same work on the same nodes (one that was tried again ran in another). Of several allocations the one with most of them.
std::vector<double> controls_of_study(Connection& connection, const std::string& study_id)
{
  std::map<std::string, std::vector<double>> by_job;
  auto s = connection.statement("SELECT coalesce(job_id, ''), throughput FROM runs_flat WHERE study_key = ? AND control AND "
                                "state = 'succeeded' AND throughput IS NOT NULL ORDER BY coalesce(begin_unix_s, 0), position");
  s.bind(study_id);
  while (s.next()) by_job[s.text(0)].push_back(s.real(1));
  const auto most = std::max_element(by_job.begin(), by_job.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return most == by_job.end() ? std::vector<double>() : most->second;
}

// Of the current attempts of a study's runs; ?1 is the study's key.
constexpr const char* probes_of_study =
    " FROM studies JOIN study_runs ON study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
    "JOIN probes ON probes.run_id = runs.id AND probes.attempt = runs.attempt "
    "LEFT JOIN environment ON environment.run_id = runs.id AND environment.name = 'cpu_model' WHERE studies.key = ?1";

std::vector<RankSpeed> rank_speeds(Connection& connection, const std::string& study_id)
{
  std::vector<RankSpeed> ranks;
  auto s = connection.statement(
      std::string("SELECT runs.key, probes.host, environment.value, runs.resources_threads_per_rank, gemm_gflops") +
      probes_of_study);
  s.bind(study_id);
  while (s.next()) ranks.push_back({s.text(0), s.text(1), s.text(2), s.integer(3), s.real(4)});
  return ranks;
}

std::vector<AllreduceTime> allreduce_times(Connection& connection, const std::string& study_id)
{
  std::vector<AllreduceTime> times;
  auto s = connection.statement(std::string("SELECT runs.key, environment.value, runs.resources_nodes, runs.ranks, "
                                            "runs.resources_threads_per_rank, allreduce_bytes, allreduce_s") +
                                probes_of_study + " AND probes.rank = 0");
  s.bind(study_id);
  while (s.next()) times.push_back({s.text(0), s.text(1), s.integer(2), s.integer(3), s.integer(4), s.integer(5), s.real(6)});
  return times;
}

} // namespace

std::vector<StudyRow> list_studies(Database& database, std::int64_t limit)
{
  auto statement = database.impl().connection.statement(study_sql("ORDER BY submitted_unix_s DESC, key LIMIT ?"));
  statement.bind(limit);
  return study_rows(statement);
}

std::vector<StudyRow> find_studies(Database& database, const std::string& name_or_prefix)
{
  if (name_or_prefix == "last") return list_studies(database, 1);
  if (name_or_prefix.empty()) return {};
  auto statement = database.impl().connection.statement(study_sql("WHERE name = ?1 OR (key >= ?1 AND key < ?2)"));
  statement.bind(name_or_prefix, after_prefix(name_or_prefix));
  return study_rows(statement);
}

std::vector<RunRow> runs_of_study(Database& database, const std::string& study_id)
{
  auto statement = database.impl().connection.statement(study_run_rows);
  statement.bind(study_id);
  return run_rows(statement);
}

std::vector<RunRow> find_runs(Database& database, const std::string& key_prefix_or_name)
{
  if (key_prefix_or_name.empty()) return {};
  auto& connection = database.impl().connection;
  auto rows = runs_with_keys(connection, key_prefix_or_name, after_prefix(key_prefix_or_name));
  for (const auto& key : keys_of_name(connection, key_prefix_or_name))
    for (auto& row : runs_with_keys(connection, key, after_prefix(key))) rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(), [](const RunRow& a, const RunRow& b) { return a.key < b.key; });
  return rows;
}

std::vector<RunRow> runs_where(Database& database, const std::string& condition, std::int64_t limit)
{
  auto& connection = database.impl().connection;
  const auto clause = clause_of(parse_conditions(condition), flat_columns(connection));
  auto statement = connection.statement(std::string(run_columns) + "WHERE " + clause.sql +
                                        " AND newest ORDER BY study_submitted_unix_s DESC, study_key, position, key LIMIT ?");
  int parameter = 0;
  for (const auto& value : clause.values) statement.bind_at(++parameter, value);
  statement.bind_at(++parameter, limit);
  return run_rows(statement);
}

std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id)
{
  auto& connection = database.impl().connection;
  auto points = points_of_study(connection, study_id);
  auto kind = connection.statement("SELECT kind IN ('strong', 'weak') FROM studies WHERE key = ?");
  kind.bind(study_id);
  const bool is_study = kind.next() && kind.integer(0) != 0;

  std::map<std::string, std::vector<Point*>> series; // points of a label, smallest first
  for (auto& [key, point] : points) {
    summarise(point);
    series[point.row.label].push_back(&point);
  }
  // One size alone, outside a study, scales against nothing.
  for (const auto& [label, members] : series)
    if (is_study || members.size() > 1) relate(members);

  std::vector<ScalingRow> rows;
  for (const auto& [key, point] : points) rows.push_back(point.row);
  return rows;
}

std::optional<Drift> drift_of_study(Database& database, const std::string& study_id)
{
  auto& connection = database.impl().connection;
  const auto controls = controls_of_study(connection, study_id);
  if (controls.size() < 2) return std::nullopt;
  std::vector<std::vector<double>> points;
  for (const auto& [key, point] : points_of_study(connection, study_id)) points.push_back(point.throughputs);
  return drift_of_controls(controls, points);
}

std::vector<Outlier> outliers_of_study(Database& database, const std::string& study_id)
{
  auto& connection = database.impl().connection;
  auto outliers = slow_hosts(rank_speeds(connection, study_id));
  for (auto& outlier : slow_allreduces(allreduce_times(connection, study_id))) outliers.push_back(std::move(outlier));
  return outliers;
}

} // namespace dt::store
