#include "store/queries.hpp"

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "store/conditions.hpp"
#include "store/natural_key.hpp"
#include "store/scaling.hpp"
#include "store/sqlite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace dt::store {
namespace {

// The columns in the order in which run_row reads them.
constexpr const char* run_columns =
    "SELECT key, study_key, name, label, repeat, position, state, cause, model, data, strategy, allreduce, nodes, ranks, "
    "workers, threads, "
    "global_batch, attempt, throughput, communication_share, accuracy, best_accuracy, train_target_accuracy, time_to_accuracy_s, "
    "wall_s, "
    "final_loss, step_p50_s, end_unix_s IS NOT NULL FROM runs_flat ";

// The same columns for one study, directly from the tables: the view would first compute and sort all of its columns.
constexpr const char* study_run_rows =
    "SELECT runs.key, studies.key, study_runs.name, study_runs.label, runs.repeat, position, state, cause, model_name, "
    "data_name, "
    "sync_strategy, sync_allreduce, resources_nodes, ranks, workers, resources_threads_per_rank, global_batch, runs.attempt, "
    "throughput, "
    "communication_share, accuracy, best_accuracy, train_target_accuracy, time_to_accuracy_s, wall_s, final_loss, step_p50_s, "
    "EXISTS (SELECT 1 FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = runs.attempt AND end_unix_s IS NOT "
    "NULL) "
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
  for (auto* number : {&row.nodes, &row.ranks, &row.workers, &row.threads, &row.global_batch}) *number = s.integer(at++);
  row.attempt = static_cast<int>(s.integer(at++));
  for (auto* number : {&row.throughput, &row.communication_share, &row.accuracy, &row.best_accuracy, &row.target_accuracy,
                       &row.time_to_accuracy_s, &row.wall_s, &row.final_loss, &row.step_p50_s})
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

// The final states except succeeded, in the order in which study_sql counts them.
std::vector<RunState> bad_states()
{
  std::vector<RunState> states;
  for (int i = 0; i <= static_cast<int>(RunState::unknown); ++i)
    if (const auto state = static_cast<RunState>(i); is_final(state) && state != RunState::succeeded) states.push_back(state);
  return states;
}

std::string count_of_state(RunState state) { return ", coalesce(sum(runs.state = '" + std::string(name_of(state)) + "'), 0)"; }

// Query for the studies selected by `which` (the end of a SELECT on studies), with counts of their runs.
std::string study_sql(const std::string& which)
{
  std::string counts = count_of_state(RunState::succeeded);
  for (const auto state : bad_states()) counts += count_of_state(state);
  return "SELECT chosen.key, chosen.name, chosen.description, chosen.kind, created_unix_s, submitted_unix_s, count(runs.id)" +
         counts + " FROM (SELECT * FROM studies " + which +
         ") AS chosen LEFT JOIN study_runs ON study_runs.study_id = chosen.id LEFT JOIN runs ON runs.id = study_runs.run_id "
         "GROUP BY chosen.id ORDER BY submitted_unix_s DESC, chosen.key";
}

std::vector<StudyRow> study_rows(Statement& s)
{
  std::vector<StudyRow> rows;
  while (s.next()) {
    auto& row = rows.emplace_back(
        StudyRow{s.text(0), s.text(1), s.text(2), s.text(3), s.real(4), s.real(5), s.integer(6), s.integer(7), 0, {}});
    int at = 8;
    for (const auto state : bad_states())
      if (const auto count = s.integer(at++); count > 0) row.failed += row.ends[state] = count;
  }
  return rows;
}

// A text that sorts after every key with this prefix. Keys are hexadecimal, so "~" sorts after them.
std::string after_prefix(const std::string& prefix) { return prefix + "~"; }

// Queries one range of keys. Only plain comparisons can use the index through the view; an IN (SELECT …) cannot.
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

// The measurements of the runs of one point. Only succeeded runs count.
struct Point {
  ScalingRow row;
  std::vector<double> throughputs, shares, accuracies;
  std::vector<double> times; // time to the target; infinite if the run missed it
  LogSample logs;            // logarithms of the throughputs
};

void add_measured(std::vector<double>& values, double value)
{
  if (!std::isnan(value)) values.push_back(value);
}

// Natural key of the label, label, workers, ranks, nodes.
using PointKey = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t>;

void add_time(Point& point, double target_accuracy, double time_s)
{
  const bool reached = !std::isnan(time_s);
  if (!reached && !(target_accuracy > 0)) return;
  point.times.push_back(reached ? time_s : std::numeric_limits<double>::infinity());
  ++point.row.target_runs;
  if (reached) ++point.row.reached;
}

std::map<PointKey, Point> points_of_study(Connection& connection, const std::string& study_id)
{
  std::map<PointKey, Point> points;
  auto s = connection.statement(
      "SELECT series, nodes, ranks, workers, state, throughput, communication_share, accuracy, "
      "train_target_accuracy, time_to_accuracy_s FROM runs_flat WHERE study_key = ? AND ranks IS NOT NULL AND NOT control");
  s.bind(study_id);
  while (s.next()) {
    auto& point = points[{natural_key(s.text(0)), s.text(0), s.integer(3), s.integer(2), s.integer(1)}];
    point.row.label = s.text(0);
    point.row.nodes = s.integer(1);
    point.row.ranks = s.integer(2);
    point.row.workers = s.integer(3);
    ++point.row.runs;
    if (state_of(s.text(4)) != RunState::succeeded) continue;
    ++point.row.succeeded;
    add_measured(point.throughputs, s.real(5));
    add_measured(point.shares, s.real(6));
    add_measured(point.accuracies, s.real(7));
    add_time(point, s.real(8), s.real(9));
  }
  return points;
}

// Returns NaN if the median is infinite.
double finite_median(const std::vector<double>& values)
{
  const auto misses = std::count_if(values.begin(), values.end(), [](double value) { return std::isinf(value); });
  // With two middle values, both are finite.
  const bool middle_is_finite = static_cast<std::size_t>(misses) < (values.size() + 1) / 2;
  return middle_is_finite ? median(values) : not_measured;
}

void summarise(Point& point)
{
  auto& row = point.row;
  row.throughput = median(point.throughputs);
  row.throughput_min = quantile(point.throughputs, 0);
  row.throughput_max = quantile(point.throughputs, 1);
  point.logs = log_sample(point.throughputs);
  row.throughput_geometric_mean = std::exp(point.logs.mean);
  row.communication_share = median(point.shares);
  row.accuracy = median(point.accuracies);
  row.time_to_accuracy_s = finite_median(point.times);
}

// Whether the size is counted in nodes: the number of nodes varies at a fixed number of workers per node. Otherwise it is
// workers.
bool counts_nodes(const std::vector<Point*>& series)
{
  const auto& first = series.front()->row;
  const auto same_density = [&](const Point* p) { return p->row.workers * first.nodes == first.workers * p->row.nodes; };
  const auto same_nodes = [&](const Point* p) { return p->row.nodes == first.nodes; };
  return std::all_of(series.begin(), series.end(), same_density) && !std::all_of(series.begin(), series.end(), same_nodes);
}

// Smallest sizes of the whole study, measured or not.
struct SmallestSizes {
  std::int64_t nodes = std::numeric_limits<std::int64_t>::max(), workers = nodes;
};

// Computes speed-up and efficiency of the points of one label, relative to the smallest measured point. `series` is sorted by
// size. A baseline larger than the study's smallest size gets no values itself.
void relate(const std::vector<Point*>& series, const SmallestSizes& smallest)
{
  const bool nodes = counts_nodes(series);
  for (auto* point : series) point->row.size = nodes ? point->row.nodes : point->row.workers;
  const auto found = std::find_if(series.begin(), series.end(), [](const Point* p) { return !std::isnan(p->row.throughput); });
  if (found == series.end()) return;
  const Point& base = **found;
  const auto base_size = static_cast<double>(base.row.size);
  for (auto* point : series) {
    auto& row = point->row;
    if (std::isnan(row.throughput)) continue;
    if (point == &base && row.size > (nodes ? smallest.nodes : smallest.workers)) continue;
    const auto size = static_cast<double>(row.size);
    row.baseline_size = base.row.size;
    row.efficiency = efficiency(point->logs, size, base.logs, base_size);
    row.speedup = row.efficiency * size;
    if (point == &base) continue; // the baseline is its own reference
    const auto interval = efficiency_interval(point->logs, size, base.logs, base_size);
    row.efficiency_low = interval.low;
    row.efficiency_high = interval.high;
  }
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

  std::map<std::string, std::vector<Point*>> series; // points by label, smallest first
  SmallestSizes smallest;
  for (auto& [key, point] : points) {
    summarise(point);
    point.row.size = point.row.workers;
    smallest.nodes = std::min(smallest.nodes, point.row.nodes);
    smallest.workers = std::min(smallest.workers, point.row.workers);
    series[point.row.label].push_back(&point);
  }
  // A single size outside a scaling study has no baseline.
  for (const auto& [label, members] : series)
    if (is_study || members.size() > 1) relate(members, smallest);

  std::vector<ScalingRow> rows;
  for (const auto& [key, point] : points) rows.push_back(point.row);
  return rows;
}

std::vector<std::vector<double>> throughputs_by_point(Database& database, const std::string& study_id)
{
  std::vector<std::vector<double>> points;
  for (const auto& [key, point] : points_of_study(database.impl().connection, study_id)) points.push_back(point.throughputs);
  return points;
}

} // namespace dt::store
