// Implements describe_run: all stored data about one run.
#include "core/error.hpp"
#include "core/record/fields.hpp"
#include "core/text.hpp"
#include "store/database/schema.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/queries.hpp"

namespace dt::store {
namespace {

Table table_of(Statement& statement)
{
  Table table;
  for (int i = 0; i < statement.columns(); ++i) table.columns.push_back(statement.column_name(i));
  while (statement.next()) {
    auto& row = table.rows.emplace_back();
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.cell(i));
  }
  return table;
}

// Turns a table with one row into a table with one row per non-empty column.
Table upright(const Table& wide)
{
  Table table{{"name", "value"}, {}};
  if (wide.rows.empty()) return table;
  for (std::size_t i = 0; i < wide.columns.size(); ++i) {
    const auto& cell = wide.rows.front()[i];
    if (!std::holds_alternative<std::monostate>(cell) && cell != Cell("")) table.rows.push_back({wide.columns[i], cell});
  }
  return table;
}

// Shows a value as in a recipe: booleans as true or false.
Cell shown(const Key& key, const Cell& cell)
{
  const auto* number = std::get_if<std::int64_t>(&cell);
  return key.type == KeyType::boolean && number != nullptr ? Cell(*number != 0 ? "true" : "false") : cell;
}

Table changed_parameters(Connection& connection, std::int64_t run_id)
{
  std::vector<std::string> columns;
  for (const auto* key : column_keys()) columns.push_back(column_of(*key));
  auto statement = connection.statement("SELECT " + join(columns, ", ") + " FROM runs WHERE id = ?");
  statement.bind(run_id);
  statement.next();
  Table table{{"parameter", "value", "default", "unit"}, {}};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& key = *column_keys()[i];
    const auto value = statement.cell(static_cast<int>(i)), usual = cell_of(default_of(key));
    if (value != usual && !std::holds_alternative<std::monostate>(value))
      table.rows.push_back({std::string(key.path), shown(key, value), shown(key, usual), std::string(key.unit)});
  }
  return table;
}

struct Part {
  const char* title;
  bool upright;    // a single row
  std::string sql; // ?1 is the run's id
};

// A column of figures that may be NaN, which only `not_finite` can say.
std::string with_nan(const std::string& column)
{
  return "coalesce(json_extract(not_finite, '$." + column + "'), " + column + ") AS " + column;
}

// The figures in the order of their rows. A figure whose 0 means that there is none is left out when it is 0.
std::string result_sql()
{
  std::vector<std::string> columns;
  for (const auto& field : result_fields()) {
    const auto column = field.column();
    const auto value = value_of(field, RunResult{});
    const bool is_map = std::holds_alternative<TextMap>(value);
    columns.push_back(std::holds_alternative<Reported>(value) ? with_nan(column)
                      : field.zero_is_nothing                 ? "nullif(" + column + ", 0) AS " + column
                      : is_map                                ? "nullif(" + column + ", '{}') AS " + column
                                                              : column);
  }
  return "SELECT " + join(columns, ", ") + " FROM results WHERE run_id = ?1";
}

const Part run_part{"run", true,
                    "SELECT key, state, cause, evidence, attempt, ranks, cores, global_batch, batch_per_rank, repeat, "
                    "engine_build, data_id FROM runs WHERE id = ?1"};

const Part parts[]{
    {"studies", false,
     "SELECT studies.name AS study, studies.key AS id, position, study_runs.name AS run FROM study_runs "
     "JOIN studies ON studies.id = study_id WHERE run_id = ?1 ORDER BY submitted_unix_s DESC, studies.key, position"},
    {"attempts", false,
     "SELECT attempt, scheduler, job_id, submitted_unix_s, begin_unix_s, end_unix_s, exit_code, nullif(restart, 0) AS restart, "
     "nullif(launches, 0) AS launches, preempted_step, preempted_signal, checkpoint, fenced_by, host, error_rank, error_host, "
     "error_step, error_cause, (SELECT max(step) FROM steps WHERE steps.run_id = attempts.run_id AND steps.attempt = "
     "attempts.attempt) AS "
     "last_step "
     "FROM attempts WHERE run_id = ?1 ORDER BY attempt"},
    {"result", true, result_sql()},
    {"evaluations", false,
     "SELECT evals.attempt, step, epoch, elapsed_s, " + with_nan("loss") + ", " + with_nan("accuracy") +
         ", samples, eval_s FROM evals JOIN runs ON runs.id = run_id "
         "AND evals.attempt = runs.attempt WHERE run_id = ?1 ORDER BY step"},
    {"phases by rank", false,
     "SELECT rank, phase, total_s, mean_s, p50_s, p95_s, p99_s, max_s FROM rank_phases WHERE run_id = ?1 ORDER BY rank, "
     "instr('input forward backward communication optimizer evaluation step', phase)"},
    {"ranks", false,
     "SELECT rank, role, host, mask, bytes_sent, messages_sent, memory_peak_bytes FROM ranks WHERE run_id = ?1 ORDER BY rank"},
    {"probe", false,
     "SELECT rank, probes.host, clock_mhz, gemm_gflops, allreduce_s, allreduce_bytes FROM probes JOIN runs ON runs.id = run_id "
     "AND probes.attempt = runs.attempt WHERE run_id = ?1 ORDER BY rank"},
    {"machine load", false,
     "SELECT machine_loads.host, machine_loads.cores, own_cores, seconds, load_begin, load_end, others_share, steal_share, "
     "elsewhere_share, throttled_share, quota_cores FROM machine_loads JOIN runs "
     "ON runs.id = run_id AND machine_loads.attempt = runs.attempt WHERE run_id = ?1 ORDER BY machine_loads.host"},
    {"environment", false, "SELECT name, value FROM environment WHERE run_id = ?1 ORDER BY name"},
};

Section section_of(Connection& connection, const Part& part, std::int64_t run_id)
{
  auto statement = connection.statement(part.sql);
  statement.bind(run_id);
  auto table = table_of(statement);
  return {part.title, part.upright ? upright(table) : std::move(table)};
}

std::int64_t id_of(Connection& connection, const std::string& key)
{
  auto statement = connection.statement("SELECT id FROM runs WHERE key = ?");
  statement.bind(key);
  if (!statement.next())
    throw Error(ErrorKind::usage, "the results database has no run " + printable(key) + ". List them with: dtctl status --all");
  return statement.integer(0);
}

} // namespace

std::vector<Section> describe_run(Database& database, const std::string& key)
{
  auto& connection = database.impl().connection;
  const auto run_id = id_of(connection, key);
  std::vector<Section> sections{section_of(connection, run_part, run_id), {"parameters", changed_parameters(connection, run_id)}};
  for (const auto& part : parts) sections.push_back(section_of(connection, part, run_id));
  return sections;
}

} // namespace dt::store
