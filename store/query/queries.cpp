#include "store/query/queries.hpp"

#include "core/error.hpp"
#include "core/record/fields.hpp"
#include "core/text.hpp"
#include "store/database/schema.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/conditions.hpp"
#include "store/query/scaling_query.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace dt::store {
namespace {

RunState state_of(const std::string& name) { return run_state_of(name).value_or(RunState::unknown); }

using ReadColumn = void (*)(RunRow& row, const Statement& statement, int at);

template<auto member> void text(RunRow& row, const Statement& s, int at) { row.*member = s.text(at); }
template<auto member> void real(RunRow& row, const Statement& s, int at) { row.*member = s.real(at); }
template<auto member> void integer(RunRow& row, const Statement& s, int at)
{
  row.*member = static_cast<std::remove_reference_t<decltype(row.*member)>>(s.integer(at));
}
void state(RunRow& row, const Statement& s, int at) { row.state = state_of(s.text(at)); }

const std::string block_in_view =
    "(SELECT " + std::string(ladder_block) +
    " FROM attempts WHERE attempts.run_id = runs_flat.run_id AND attempts.attempt = runs_flat.attempt)";

// Those of a run on one node stand in its attempt, which a list of many runs reads anyway.
std::string hosts_of(const std::string& run, const std::string& nodes, const std::string& host)
{
  return "coalesce(iif(" + nodes + " > 1, (SELECT group_concat(DISTINCT host) FROM ranks WHERE ranks.run_id = " + run + "), " +
         host + "), '')";
}
const std::string hosts_in_view = hosts_of("runs_flat.run_id", "nodes", "host"),
                  hosts_in_tables = hosts_of("runs.id", "runs.resources_nodes", "attempts.host");

// A column of RunRow: in the view runs_flat; in the tables, for one study, because the view would first compute and sort all of
// its columns; and how it is read.
struct RunColumn {
  const char* in_view;
  const char* in_tables;
  ReadColumn read;
};

const RunColumn run_columns[]{
    {"key", "runs.key", text<&RunRow::key>},
    {"study_key", "studies.key", text<&RunRow::study>},
    {"name", "study_runs.name", text<&RunRow::name>},
    {"label", "study_runs.label", text<&RunRow::label>},
    {"series", "study_runs.series", text<&RunRow::series>},
    {"control", "study_runs.control", integer<&RunRow::is_control>},
    {"repeat", "runs.repeat", integer<&RunRow::repeat>},
    {"position", "position", integer<&RunRow::position>},
    {"state", "runs.state", state},
    {"cause", "runs.cause", text<&RunRow::cause>},
    {"coalesce(cause_kind, '')", "coalesce(runs.cause_kind, '')", text<&RunRow::cause_kind>},
    {"model", "runs.model_name", text<&RunRow::model>},
    {"data", "runs.data_name", text<&RunRow::data>},
    {"strategy", "runs.sync_strategy", text<&RunRow::strategy>},
    {"allreduce", "runs.sync_allreduce", text<&RunRow::allreduce>},
    {"platform", "runs.resources_platform", text<&RunRow::platform>},
    {"nodes", "runs.resources_nodes", integer<&RunRow::nodes>},
    {"ranks", "runs.ranks", integer<&RunRow::ranks>},
    {"workers", "runs.workers", integer<&RunRow::workers>},
    {"threads", "runs.resources_threads_per_rank", integer<&RunRow::threads>},
    {"global_batch", "runs.global_batch", integer<&RunRow::global_batch>},
    {"attempt", "runs.attempt", integer<&RunRow::attempt>},
    {"coalesce(job_id, '')", "coalesce(attempts.job_id, '')", text<&RunRow::job_id>},
    {block_in_view.c_str(), ladder_block.data(), text<&RunRow::block>},
    {"begin_unix_s", "attempts.begin_unix_s", real<&RunRow::begin_unix_s>},
    {hosts_in_view.c_str(), hosts_in_tables.c_str(), text<&RunRow::hosts>},
    {"train_target_accuracy", "runs.train_target_accuracy", real<&RunRow::target_accuracy>},
    {"train_modelled_rate", "runs.train_modelled_rate", real<&RunRow::modelled_rate>},
    {"train_seed", "runs.train_seed", integer<&RunRow::seed>},
    {"platform <> '' AND coalesce(train_compute_profile, '') = '' AND coalesce(train_modelled_step_spread, 0) = 0 AND "
     "coalesce(train_modelled_node_spread, 0) = 0",
     "coalesce(runs.resources_platform, '') <> '' AND coalesce(runs.train_compute_profile, '') = '' AND "
     "coalesce(runs.train_modelled_step_spread, 0) = 0 AND coalesce(runs.train_modelled_node_spread, 0) = 0",
     integer<&RunRow::is_exact>},
    {"train_trace", "runs.train_trace", integer<&RunRow::records_trace>},
    {"coalesce(tags, '')", "(SELECT group_concat(tag, ' ') FROM note_tags WHERE note_tags.key = runs.key)", text<&RunRow::tags>},
    {"coalesce(note, '')", "(SELECT text FROM note_texts WHERE note_texts.key = runs.key)", text<&RunRow::note>},
    {"coalesce(json_extract(nullif(caveats, ''), '$.copies'), '')",
     "coalesce(json_extract(nullif(results.caveats, ''), '$.copies'), '')", text<&RunRow::copies>},
    {"end_unix_s", "attempts.end_unix_s", real<&RunRow::end_unix_s>},
};

bool is_number(const Field<RunResult>& field)
{
  const auto value = value_of(field, RunResult{});
  return std::holds_alternative<double>(value) || std::holds_alternative<Reported>(value) ||
         std::holds_alternative<std::int64_t>(value);
}

// The figures of a result that are numbers.
const std::vector<Field<RunResult>>& numeric_figures()
{
  static const auto figures = [] {
    std::vector<Field<RunResult>> numbers;
    for (const auto& field : result_fields())
      if (is_number(field)) numbers.push_back(field);
    return numbers;
  }();
  return figures;
}

// Returns "SELECT key, study_key, …, throughput, … ".
std::string select_runs(const char* RunColumn::*source, const std::string& results)
{
  std::vector<std::string> columns;
  for (const auto& column : run_columns) columns.emplace_back(column.*source);
  for (const auto& figure : numeric_figures()) columns.push_back(results + figure.column());
  columns.push_back(results + std::string(not_finite_column));
  return "SELECT " + join(columns, ", ") + " ";
}

const std::string& runs_of_view()
{
  static const auto sql = select_runs(&RunColumn::in_view, "") + "FROM runs_flat ";
  return sql;
}

const std::string& runs_of_tables()
{
  static const auto sql = select_runs(&RunColumn::in_tables, "results.") +
                          "FROM studies JOIN study_runs ON study_runs.study_id = studies.id "
                          "JOIN runs ON runs.id = study_runs.run_id LEFT JOIN results ON results.run_id = runs.id "
                          "LEFT JOIN attempts ON attempts.run_id = runs.id AND attempts.attempt = runs.attempt "
                          "WHERE studies.key = ? ORDER BY position";
  return sql;
}

RunRow run_row(const Statement& s)
{
  RunRow row;
  int at = 0;
  for (const auto& column : run_columns) column.read(row, s, at++);
  std::vector<double> figures(numeric_figures().size());
  for (auto& figure : figures) figure = s.real(at++);
  row.figures = std::make_shared<const std::vector<double>>(std::move(figures));
  row.not_finite = s.text(at);
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

std::string count_of_state(RunState state)
{
  const std::string name(name_of(state));
  return ", coalesce(sum(runs.state = '" + name + "'), 0) AS \"" + name + "\"";
}

// Query for the studies selected by `which` (the end of a SELECT on studies), with counts of their runs.
std::string study_sql(const std::string& which)
{
  std::string counts = count_of_state(RunState::succeeded);
  for (const auto state : bad_states()) counts += count_of_state(state);
  return "SELECT chosen.key, chosen.name, chosen.description, chosen.kind, created_unix_s, submitted_unix_s, "
         "count(runs.id) AS runs, coalesce(chosen.labels, '') AS labels, sum(results.diverged_step IS NOT NULL) AS diverged, "
         "(SELECT group_concat(tag, ' ') FROM note_tags WHERE note_tags.key = chosen.key) AS tags, "
         "(SELECT text FROM note_texts WHERE note_texts.key = chosen.key) AS note" +
         counts + " FROM (SELECT * FROM studies " + which +
         ") AS chosen LEFT JOIN study_runs ON study_runs.study_id = chosen.id LEFT JOIN runs ON runs.id = study_runs.run_id "
         "LEFT JOIN results ON results.run_id = runs.id GROUP BY chosen.id ORDER BY submitted_unix_s DESC, chosen.key";
}

// The labels in a column of JSON.
std::map<std::string, std::string> labels_in(const std::string& json)
{
  const auto labels = nlohmann::json::parse(json, nullptr, false);
  return labels.is_object() ? labels.get<std::map<std::string, std::string>>() : std::map<std::string, std::string>();
}

std::vector<StudyRow> study_rows(Statement& s)
{
  std::vector<StudyRow> rows;
  while (s.next()) {
    auto& row = rows.emplace_back(StudyRow{s.text("key"),
                                           s.text("name"),
                                           s.text("description"),
                                           s.text("kind"),
                                           s.real("created_unix_s"),
                                           s.real("submitted_unix_s"),
                                           s.integer("runs"),
                                           s.integer(name_of(RunState::succeeded)),
                                           0,
                                           0,
                                           {}});
    row.labels = labels_in(s.text("labels"));
    row.tags = s.text("tags");
    row.note = s.text("note");
    for (const auto state : bad_states())
      if (const auto count = s.integer(name_of(state)); count > 0) row.failed += row.ends[state] = count;
    row.diverged = s.integer("diverged");
  }
  return rows;
}

// A text that sorts after every key with this prefix. Keys are hexadecimal, so "~" sorts after them.
std::string after_prefix(const std::string& prefix) { return prefix + "~"; }

// Queries one range of keys. Only plain comparisons can use the index through the view; an IN (SELECT …) cannot.
std::vector<RunRow> runs_with_keys(Connection& connection, const std::string& from, const std::string& before)
{
  auto statement = connection.statement(runs_of_view() + "WHERE key >= ? AND key < ? AND newest");
  statement.bind(from, before);
  return run_rows(statement);
}

// An index on the ids would cost more at every ingest than this look through the attempts costs a person's question.
std::vector<std::string> keys_of_job(Connection& connection, const std::string& job_id)
{
  std::vector<std::string> keys;
  auto statement = connection.statement("SELECT DISTINCT runs.key FROM attempts JOIN runs ON runs.id = attempts.run_id "
                                        "WHERE job_id = ?1 OR substr(job_id, 1, length(?1) + 1) = ?1 || '_' ORDER BY runs.id");
  statement.bind(job_id);
  while (statement.next()) keys.push_back(statement.text(0));
  return keys;
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
  auto statement = connection.statement(
      "SELECT name, type IN ('INTEGER', 'REAL') OR name IN ('newest', 'study_newest') FROM pragma_table_info('runs_flat')");
  while (statement.next()) columns.push_back({statement.text(0), statement.integer(1) != 0});
  return columns;
}

} // namespace

double RunRow::figure(std::string_view figure_name) const
{
  static const auto places = [] {
    std::unordered_map<std::string_view, std::size_t> by_name;
    for (const auto& field : numeric_figures()) by_name.emplace(field.name, by_name.size());
    return by_name;
  }();
  const auto place = places.find(figure_name);
  if (place == places.end()) throw Error(ErrorKind::internal, "a result has no figure " + std::string(figure_name));
  return figures ? (*figures)[place->second] : not_measured;
}

std::string RunRow::word(std::string_view figure_name) const
{
  if (not_finite.empty()) return {};
  const auto words = nlohmann::json::parse(not_finite, nullptr, false);
  return words.is_object() ? words.value(figure_name, "") : "";
}

double RunRow::samples_of_step() const
{
  const double reported = figure("step_samples");
  if (!std::isnan(reported)) return reported;
  return global_batch > 0 ? static_cast<double>(global_batch) : not_measured;
}

bool RunRow::has_diverged() const { return !std::isnan(figure("diverged_step")); }

bool RunRow::knows_target() const
{
  return target_accuracy <= 0 || !std::isnan(figure("time_to_accuracy_s")) || figure("samples_to_accuracy") == 0;
}

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

std::vector<RunRow> runs_of_study(Connection& connection, const std::string& study_key)
{
  auto statement = connection.statement(runs_of_tables());
  statement.bind(study_key);
  return run_rows(statement);
}

std::vector<RunRow> runs_of_study(Database& database, const std::string& study_id)
{
  return runs_of_study(database.impl().connection, study_id);
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

std::vector<RunRow> runs_of_job(Database& database, const std::string& job_id)
{
  auto& connection = database.impl().connection;
  std::vector<RunRow> rows;
  for (const auto& key : keys_of_job(connection, job_id))
    for (auto& row : runs_with_keys(connection, key, after_prefix(key))) rows.push_back(std::move(row));
  return rows;
}

std::set<std::string> studies_where(Database& database, const std::string& condition)
{
  auto& connection = database.impl().connection;
  const auto clause = clause_of(parse_conditions(condition), flat_columns(connection));
  auto statement = connection.statement("SELECT DISTINCT study_key FROM runs_flat WHERE study_key IS NOT NULL AND " + clause.sql);
  int parameter = 0;
  for (const auto& value : clause.values) statement.bind_at(++parameter, value);
  std::set<std::string> ids;
  while (statement.next()) ids.insert(statement.text(0));
  return ids;
}

std::vector<RunRow> runs_where(Database& database, const std::string& condition, std::int64_t limit)
{
  auto& connection = database.impl().connection;
  const auto clause = clause_of(parse_conditions(condition), flat_columns(connection));
  auto statement = connection.statement(runs_of_view() + "WHERE " + clause.sql +
                                        " AND newest ORDER BY study_submitted_unix_s DESC, study_key, position, key LIMIT ?");
  int parameter = 0;
  for (const auto& value : clause.values) statement.bind_at(++parameter, value);
  statement.bind_at(++parameter, limit);
  return run_rows(statement);
}

} // namespace dt::store
