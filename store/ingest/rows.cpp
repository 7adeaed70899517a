#include "store/ingest/rows.hpp"

#include "core/program/program_words.hpp"
#include "core/record/fields.hpp"
#include "core/spec/point_label.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace dt::store {
namespace {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Returns "(?, ?, ?)".
std::string placeholders(std::size_t count)
{
  std::string text = "(?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text + ")";
}

// An INSERT that overwrites the row with the same `conflict` columns.
std::string upsert(const std::string& table, const std::vector<std::string>& columns, const std::string& conflict)
{
  std::vector<std::string> updates;
  for (const auto& column : columns) updates.push_back(column + " = excluded." + column);
  return insert_into(table, columns) + " ON CONFLICT (" + conflict + ") DO UPDATE SET " + join(updates, ", ");
}

Cell cell_of(const FieldCell& value)
{
  struct Converter {
    Cell operator()(bool v) const { return std::int64_t{v}; }
    Cell operator()(int v) const { return std::int64_t{v}; }
    Cell operator()(std::int64_t v) const { return v == not_counted ? Cell() : Cell(v); }
    Cell operator()(double v) const { return v; }
    Cell operator()(const Reported& v) const { return v ? Cell(*v) : Cell(); } // SQLite makes NULL of NaN
    Cell operator()(const std::string& v) const { return v; }
    Cell operator()(const std::vector<std::string>& v) const { return json_text(v); }
    Cell operator()(const TextMap& v) const { return json_text(Json(v)); }
  };
  return std::visit(Converter{}, value);
}

// The figures that were reported as NaN or infinite, by column: {"loss":"NaN"}. NULL without any. A column itself cannot hold
// NaN, and NULL there means that the figure was not reported.
template<class Record> Cell not_finite(Fields<Record> fields, const Record& record)
{
  TextMap words;
  for (const auto& field : fields) {
    const auto value = value_of(field, record);
    if (const auto* figure = std::get_if<Reported>(&value); figure != nullptr && is_not_finite(*figure))
      words[field.column()] = word_of(**figure);
  }
  return words.empty() ? Cell() : Cell(json_text(Json(words)));
}

using Names = std::vector<std::string_view>;

std::string run_upsert()
{
  std::vector<std::string> columns{"key",          "state",        "cause",          "evidence",  "attempt", "fingerprint",
                                   "engine_build", "data_id",      "label",          "repeat",    "ranks",   "workers",
                                   "cores",        "global_batch", "batch_per_rank", "cause_kind"};
  for (const auto* key : column_keys()) columns.push_back(column_of(*key));
  return upsert("runs", columns, "key") + " RETURNING id";
}

// A row of a table: columns and their values.
class Row {
 public:
  Row& add(std::string column, Cell value)
  {
    columns_.push_back(std::move(column));
    values_.push_back(std::move(value));
    return *this;
  }
  // The record's fields, without secrets; lists have tables of their own. Without a record the columns are NULL.
  template<class Record> Row& add(Fields<Record> fields, const std::optional<Record>& record, const Names& left_out = {})
  {
    static const Record none{};
    for (const auto& field : fields) {
      const auto value = value_of(field, record ? *record : none);
      const bool is_list = std::holds_alternative<std::vector<std::string>>(value);
      if (is_list || std::find(left_out.begin(), left_out.end(), field.name) != left_out.end()) continue;
      add(field.column(), record ? cell_of(without_secrets(value)) : Cell());
    }
    return *this;
  }
  // Adds the row. With `conflict`, overwrites the row that has the same values in these columns. Returns the integer in the
  // column `returning`, or 0 without one.
  std::int64_t write(Connection& connection, const std::string& table, const std::string& conflict = "",
                     const std::string& returning = "") const
  {
    auto statement = connection.statement((conflict.empty() ? insert_into(table, columns_) : upsert(table, columns_, conflict)) +
                                          (returning.empty() ? "" : " RETURNING " + returning));
    for (std::size_t i = 0; i < values_.size(); ++i) statement.bind_at(static_cast<int>(i) + 1, values_[i]);
    const auto result = !returning.empty() && statement.next() ? statement.integer(0) : 0;
    statement.finish();
    return result;
  }

 private:
  std::vector<std::string> columns_;
  std::vector<Cell> values_;
};

std::int64_t write_study_row(Connection& connection, StudyRecord study)
{
  return Row()
      .add(stored_study_fields(), std::optional(std::move(study)))
      .add("points_current", 0)
      .write(connection, "studies", "key", "id");
}

void write_result(Connection& connection, std::int64_t run_id, int attempt, const std::optional<RunResult>& result)
{
  Row()
      .add("run_id", run_id)
      .add("attempt", attempt)
      .add(result_fields(), result)
      .add(std::string(not_finite_column), not_finite(result_fields(), *result))
      .write(connection, "results");
}

void write_phases(Connection& connection, std::int64_t run_id, const RankRecord& rank)
{
  const auto write = [&](std::string_view phase, const PhaseStats& times) {
    Row()
        .add("run_id", run_id)
        .add("rank", rank.rank)
        .add("phase", std::string(phase))
        .add(phase_fields(), std::optional(times))
        .write(connection, "rank_phases");
  };
  for (std::size_t i = 0; i < phase_count; ++i) write(phase_names[i], rank.phases[i]);
  write("step", rank.step);
}

void write_buckets(Connection& connection, std::int64_t run_id, const RunResult& result)
{
  for (std::int64_t number = 0; const auto& bucket : result.buckets)
    Row().add("run_id", run_id).add("bucket", number++).add(bucket_fields(), std::optional(bucket)).write(connection, "buckets");
}

// Hosts and masks come from the begin record, all other columns from the result.
void write_ranks(Connection& connection, std::int64_t run_id, const AttemptRecord& attempt)
{
  std::map<int, std::pair<std::optional<RankRecord>, Row>> ranks; // the record of a rank without a result is empty
  if (attempt.result)
    for (const auto& rank : attempt.result->ranks) ranks[rank.rank].first = rank;
  const auto at = [](const std::vector<std::string>& texts, int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return i < texts.size() ? Cell(texts[i]) : Cell();
  };
  if (attempt.begin) {
    const auto known = std::max(attempt.begin->rank_hosts.size(), attempt.begin->rank_masks.size());
    for (std::size_t rank = 0; rank < known; ++rank) ranks.try_emplace(static_cast<int>(rank));
  }
  for (auto& [number, known] : ranks) {
    auto& [record, row] = known;
    row.add("run_id", run_id).add("rank", number).add("mask", attempt.begin ? at(attempt.begin->rank_masks, number) : Cell());
    row.add("host", record ? Cell(record->host) : at(attempt.begin->rank_hosts, number));
    row.add(rank_fields(), record, {"rank", "host"}).write(connection, "ranks");
  }
}

template<class Event>
void write_lines(Connection& connection, const std::string& table, std::int64_t run_id, int attempt,
                 const std::vector<Event>& events, Fields<Event> fields)
{
  std::vector<std::string> columns{"run_id", "attempt"};
  for (const auto& field : fields) columns.push_back(field.column());
  columns.emplace_back(not_finite_column);
  auto statement = connection.statement("INSERT OR REPLACE INTO " + table + " (" + join(columns, ", ") + ") VALUES " +
                                        placeholders(columns.size()));
  for (const auto& event : events) {
    statement.bind(run_id, attempt);
    int parameter = 2;
    for (const auto& field : fields) statement.bind_at(++parameter, cell_of(value_of(field, event)));
    statement.bind_at(++parameter, not_finite(fields, event));
    statement.finish();
  }
}

void write_probe(Connection& connection, std::int64_t run_id, const AttemptRecord& attempt)
{
  connection.statement("DELETE FROM probes WHERE run_id = ? AND attempt = ?").run(run_id, attempt.number);
  if (!attempt.probe) return;
  for (const auto& rank : attempt.probe->ranks)
    Row()
        .add("run_id", run_id)
        .add("attempt", attempt.number)
        .add(rank_probe_fields(), std::optional(rank))
        .add(probe_fields(), attempt.probe)
        .write(connection, "probes", "run_id, attempt, rank");
}

void write_load(Connection& connection, std::int64_t run_id, const AttemptRecord& attempt)
{
  connection.statement("DELETE FROM machine_loads WHERE run_id = ? AND attempt = ?").run(run_id, attempt.number);
  if (!attempt.load) return;
  for (const auto& node : attempt.load->nodes)
    Row()
        .add("run_id", run_id)
        .add("attempt", attempt.number)
        .add(node_load_fields(), std::optional(node))
        .write(connection, "machine_loads", "run_id, attempt, host");
}

} // namespace

std::string insert_into(const std::string& table, const std::vector<std::string>& columns)
{
  return "INSERT INTO " + table + " (" + join(columns, ", ") + ") VALUES " + placeholders(columns.size());
}

std::string label_in_name(std::string_view run_name, std::string_view study_name)
{
  if (!run_name.starts_with(study_name)) return {};
  run_name.remove_prefix(study_name.size());
  if (const auto repeat = run_name.rfind("/#"); repeat != run_name.npos && is_digits(run_name.substr(repeat + 2)))
    run_name = run_name.substr(0, repeat);
  constexpr std::string_view control = "/control #";
  if (const auto at = run_name.rfind(control); at != run_name.npos && is_digits(run_name.substr(at + control.size())))
    run_name = run_name.substr(0, at);
  if (run_name.starts_with('/')) run_name.remove_prefix(1);
  return std::string(run_name);
}

void write_study(Connection& connection, const StudyRecord& study)
{
  const auto study_id = write_study_row(connection, study);
  connection.statement("DELETE FROM study_runs WHERE study_id = ?").run(study_id);
  auto add_run = connection.statement("INSERT INTO runs (key) VALUES (?) ON CONFLICT (key) DO NOTHING");
  auto add = connection.statement("INSERT INTO study_runs (study_id, position, run_id, name, label, series, control) "
                                  "VALUES (?, ?, (SELECT id FROM runs WHERE key = ?), ?, ?, ?, ?)");
  const std::set<std::string> controls(study.control_keys.begin(), study.control_keys.end());
  for (std::size_t i = 0; i < study.run_keys.size(); ++i) {
    const auto& key = study.run_keys[i];
    const auto name = i < study.run_names.size() ? study.run_names[i] : key;
    const auto label = label_in_name(name, study.name);
    add_run.run(key);
    add.run(study_id, static_cast<std::int64_t>(i), key, name, label, series_of(label), controls.contains(key));
  }
}

// A program of the user need not tell dtctl its batch.
Cell if_known(std::int64_t batch) { return batch > 0 ? Cell(batch) : Cell(); }

std::int64_t write_run(Connection& connection, const PlannedRun& planned, const RunVerdict& verdict,
                       const std::string& fingerprint)
{
  static const std::string sql = run_upsert();
  const auto spec = without_secrets(planned.spec);
  auto statement = connection.statement(sql);
  statement.bind(planned.key, name_of(verdict.state), without_secrets(std::string_view(verdict.cause)),
                 without_secrets(std::string_view(verdict.evidence)), verdict.attempt, fingerprint, planned.engine_build,
                 planned.data_id, spec.label, spec.repeat, spec.ranks(), spec.workers(), spec.cores(),
                 if_known(spec.effective_global_batch()), if_known(spec.effective_batch_per_rank()),
                 verdict.cause_kind.empty() ? Cell() : Cell(verdict.cause_kind));
  int parameter = 16;
  // dtengine's keys say nothing about a run of another program.
  for (const auto* key : column_keys()) {
    statement.bind_at(++parameter, has_no_effect(key->path, spec.program) ? Cell() : cell_of(value_of(spec, *key)));
  }
  statement.next();
  const auto id = statement.integer(0);
  statement.finish();
  connection
      .statement("UPDATE studies SET points_current = 0 WHERE points_current AND id IN "
                 "(SELECT study_id FROM study_runs WHERE run_id = ?)")
      .run(id);
  return id;
}

void write_attempt(Connection& connection, std::int64_t run_id, const AttemptRecord& attempt)
{
  const auto token = attempt.submission ? std::optional(attempt.submission->token) : std::nullopt;
  connection.statement("DELETE FROM attempts WHERE run_id = ? AND attempt = ? AND token IS NOT ?")
      .run(run_id, attempt.number, token);
  Row row;
  row.add("run_id", run_id)
      .add("attempt", attempt.number)
      .add(submission_fields(), attempt.submission, {"attempt", "launch_tries", "after", "git_state"});
  row.add(begin_fields(), attempt.begin, {"environment"});
  row.add("end_unix_s", attempt.end ? Cell(attempt.end->unix_s) : Cell());
  row.add("exit_code", attempt.end ? Cell(std::int64_t{attempt.end->exit_code}) : Cell());
  row.add(error_fields(), attempt.error).add("launches", static_cast<std::int64_t>(attempt.launches.size()));
  row.add("preempted_unix_s", attempt.preemption ? Cell(attempt.preemption->unix_s) : Cell());
  row.add(preemption_fields(), attempt.preemption, {"unix_s", "steps"});
  row.add("fenced_by", attempt.fenced_by ? Cell(std::int64_t{*attempt.fenced_by}) : Cell());
  row.write(connection, "attempts", "run_id, attempt");
  write_probe(connection, run_id, attempt);
  write_load(connection, run_id, attempt);
}

void keep_attempts(Connection& connection, std::int64_t run_id, const std::vector<AttemptRecord>& attempts)
{
  Json numbers = Json::array();
  for (const auto& attempt : attempts) numbers.push_back(attempt.number);
  connection.statement("DELETE FROM attempts WHERE run_id = ? AND attempt NOT IN (SELECT value FROM json_each(?))")
      .run(run_id, json_text(numbers));
}

void write_current(Connection& connection, std::int64_t run_id, const AttemptRecord* current)
{
  for (const auto* table : {"results", "ranks", "rank_phases", "buckets", "environment"})
    connection.statement(std::string("DELETE FROM ") + table + " WHERE run_id = ?").run(run_id);
  if (current == nullptr) return;
  write_ranks(connection, run_id, *current);
  if (current->begin)
    for (const auto& [name, value] : current->begin->environment)
      connection.statement("INSERT INTO environment (run_id, name, value) VALUES (?, ?, ?)").run(run_id, name, value);
  if (!current->result) return;
  auto result = current->result;
  if (current->energy) result->energy = current->energy->run;
  write_result(connection, run_id, current->number, result);
  for (const auto& rank : current->result->ranks) write_phases(connection, run_id, rank);
  write_buckets(connection, run_id, *current->result);
}

void write_point(Connection& connection, std::int64_t study_id, std::int64_t position, const ScalingRow& point)
{
  Row()
      .add("study_id", study_id)
      .add("position", position)
      .add(scaling_fields(), std::optional(point))
      .write(connection, "points");
}

void write_prediction_row(Connection& connection, const PredictionRecord& prediction)
{
  Row().add(prediction_fields(), std::optional(prediction)).write(connection, "predictions", "id");
}

std::size_t write_events(Connection& connection, std::int64_t run_id, int attempt, std::string_view lines)
{
  const auto events = parse_events(lines);
  write_lines(connection, "steps", run_id, attempt, events.steps, step_event_fields());
  write_lines(connection, "evals", run_id, attempt, events.evals, eval_event_fields());
  return events.steps.size();
}

} // namespace dt::store
