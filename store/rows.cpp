#include "store/rows.hpp"

#include "core/secrets.hpp"
#include "core/text.hpp"
#include "store/natural_key.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace dt::store {
namespace {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// "(?, ?, ?)"
std::string placeholders(std::size_t count)
{
  std::string text = "(?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text + ")";
}

// INSERT that overwrites the row of the same `conflict` columns.
std::string upsert(const std::string& table, const std::vector<std::string>& columns, const std::string& conflict)
{
  std::vector<std::string> updates;
  for (const auto& column : columns) updates.push_back(column + " = excluded." + column);
  return "INSERT INTO " + table + " (" + join(columns, ", ") + ") VALUES " + placeholders(columns.size()) + " ON CONFLICT (" +
         conflict + ") DO UPDATE SET " + join(updates, ", ");
}

std::string run_upsert()
{
  std::vector<std::string> columns{"key",     "state", "cause",  "evidence", "attempt", "fingerprint",  "engine_build",
                                   "data_id", "label", "repeat", "ranks",    "workers", "cores",        "global_batch",
                                   "batch_per_rank"};
  for (const auto* key : column_keys()) columns.push_back(column_of(*key));
  return upsert("runs", columns, "key") + " RETURNING id";
}

bool is_number(std::string_view text)
{
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "nodes" of "resources.nodes=2" and of "nodes=2"; empty when its value is no number.
std::string_view counted(std::string_view word)
{
  const auto equals = word.find('=');
  if (equals == std::string_view::npos || !is_number(word.substr(equals + 1))) return {};
  auto key = word.substr(0, equals);
  if (key.starts_with("resources.")) key.remove_prefix(10);
  return key;
}

bool is_size(std::string_view word) { return counted(word) == "ranks" || counted(word) == "nodes"; }
bool is_density(std::string_view word) { return counted(word) == "ranks_per_node"; }

std::int64_t write_study_row(Connection& connection, const StudyRecord& study)
{
  static const std::string sql =
      upsert("studies",
             {"key", "name", "description", "kind", "recipe_path", "recipe_text", "created_unix_s", "submitted_unix_s"}, "key") +
      " RETURNING id";
  auto statement = connection.statement(sql);
  statement.bind(study.id, study.name, study.description, study.kind, study.recipe_path, without_secrets(std::string_view(study.recipe_text)), study.created_unix_s,
                 study.submitted_unix_s);
  statement.next();
  const auto id = statement.integer(0);
  statement.finish();
  return id;
}

void write_result(Connection& connection, std::int64_t run_id, int attempt, const RunResult& r)
{
  double step_p50_s = not_measured; // of the slowest rank
  std::int64_t bytes = 0, messages = 0, memory = 0;
  for (const auto& rank : r.ranks) {
    step_p50_s = std::fmax(step_p50_s, rank.step.p50_s);
    bytes += rank.bytes_sent;
    messages += rank.messages_sent;
    memory = std::max(memory, rank.memory_peak_bytes);
  }
  connection
      .statement(
          "INSERT INTO results (run_id, attempt, finished_unix_s, steps, warmup_steps, measured_samples, measured_s, throughput, "
          "wall_s, communication_share, final_loss, eval_loss, accuracy, best_accuracy, time_to_accuracy_s, step_p50_s, "
          "bytes_sent, "
          "messages_sent, memory_peak_bytes, parameters, weights_hash, resumed_step, isolated_communication_s, accuracy_centre, "
          "accuracy_worker, accuracy_average, staleness_updates, staleness_mean, staleness_p95, staleness_max, facts) VALUES " +
          placeholders(31))
      .run(run_id, attempt, r.unix_s, r.steps, r.warmup_steps, r.measured_samples, r.measured_s, r.throughput, r.wall_s,
           r.communication_share, r.final_loss, r.eval_loss, r.accuracy, r.best_accuracy, r.time_to_accuracy_s, step_p50_s, bytes,
           messages, memory, r.parameters, r.weights_hash, r.resumed_step,
           r.isolated_communication_s, r.accuracy_centre, r.accuracy_worker, r.accuracy_average, r.staleness.updates, r.staleness.mean,
           r.staleness.p95, r.staleness.max, json_text(Json(r.facts)));
}

void write_phases(Connection& connection, std::int64_t run_id, const RankRecord& rank)
{
  auto statement = connection.statement(
      "INSERT INTO rank_phases (run_id, rank, phase, total_s, mean_s, p50_s, p95_s, p99_s, max_s) VALUES " + placeholders(9));
  const auto write = [&](std::string_view phase, const PhaseStats& s) {
    statement.run(run_id, rank.rank, phase, s.total_s, s.mean_s, s.p50_s, s.p95_s, s.p99_s, s.max_s);
  };
  for (std::size_t i = 0; i < phase_count; ++i) write(phase_names[i], rank.phases[i]);
  write("step", rank.step);
}

// Hosts and masks are known from the beginning, the rest only from a result.
void write_ranks(Connection& connection, std::int64_t run_id, const AttemptFacts& facts)
{
  struct RankRow {
    std::optional<std::string> host, mask, role;
    std::optional<std::int64_t> bytes, messages, memory;
  };
  std::map<int, RankRow> rows;
  if (facts.begin) {
    for (std::size_t i = 0; i < facts.begin->rank_hosts.size(); ++i) rows[static_cast<int>(i)].host = facts.begin->rank_hosts[i];
    for (std::size_t i = 0; i < facts.begin->rank_masks.size(); ++i) rows[static_cast<int>(i)].mask = facts.begin->rank_masks[i];
  }
  if (facts.result)
    for (const auto& rank : facts.result->ranks) {
      auto& row = rows[rank.rank];
      row = {rank.host, row.mask, rank.role, rank.bytes_sent, rank.messages_sent, rank.memory_peak_bytes};
    }
  auto statement = connection.statement(
      "INSERT INTO ranks (run_id, rank, host, mask, role, bytes_sent, messages_sent, memory_peak_bytes) VALUES " + placeholders(8));
  for (const auto& [rank, row] : rows) statement.run(run_id, rank, row.host, row.mask, row.role, row.bytes, row.messages, row.memory);
}

void write_steps(Connection& connection, std::int64_t run_id, int attempt, const std::vector<StepEvent>& steps)
{
  auto statement =
      connection.statement("INSERT OR REPLACE INTO steps (run_id, attempt, step, epoch, elapsed_s, loss, learning_rate, step_s, "
                           "input_s, forward_s, backward_s, communication_s, optimizer_s) VALUES " +
                           placeholders(13));
  const auto phase = [](const StepEvent& e, Phase p) { return e.phase_s[static_cast<std::size_t>(p)]; };
  for (const auto& e : steps)
    statement.run(run_id, attempt, e.step, e.epoch, e.elapsed_s, e.loss, e.learning_rate, e.step_s, phase(e, Phase::input),
                  phase(e, Phase::forward), phase(e, Phase::backward), phase(e, Phase::communication),
                  phase(e, Phase::optimizer));
}

void write_evals(Connection& connection, std::int64_t run_id, int attempt, const std::vector<EvalEvent>& evals)
{
  auto statement = connection.statement(
      "INSERT OR REPLACE INTO evals (run_id, attempt, step, epoch, elapsed_s, loss, accuracy, samples, eval_s) VALUES " +
      placeholders(9));
  for (const auto& e : evals)
    statement.run(run_id, attempt, e.step, e.epoch, e.elapsed_s, e.loss, e.accuracy, e.samples, e.eval_s);
}

void write_probe(Connection& connection, std::int64_t run_id, const AttemptFacts& facts)
{
  connection.statement("DELETE FROM probes WHERE run_id = ? AND attempt = ?").run(run_id, facts.number);
  if (!facts.probe) return;
  const auto& probe = *facts.probe;
  auto statement = connection.statement("INSERT OR REPLACE INTO probes (run_id, attempt, rank, host, clock_mhz, gemm_gflops, "
                                        "allreduce_s, allreduce_bytes, unix_s) VALUES " +
                                        placeholders(9));
  for (const auto& rank : probe.ranks)
    statement.run(run_id, facts.number, rank.rank, rank.host, rank.clock_mhz, rank.gemm_gflops, probe.allreduce_s,
                  probe.allreduce_bytes, probe.unix_s);
}

void write_load(Connection& connection, std::int64_t run_id, const AttemptFacts& facts)
{
  connection.statement("DELETE FROM machine_loads WHERE run_id = ? AND attempt = ?").run(run_id, facts.number);
  if (!facts.load) return;
  auto statement = connection.statement("INSERT OR REPLACE INTO machine_loads (run_id, attempt, host, cores, own_cores, seconds, "
                                        "load_begin, load_end, others_share, steal_share, elsewhere_share) VALUES " +
                                        placeholders(11));
  for (const auto& n : facts.load->nodes)
    statement.run(run_id, facts.number, n.host, n.cores, n.own_cores, n.seconds, n.load_begin, n.load_end, n.others_share, n.steal_share,
                  n.elsewhere_share);
}

} // namespace

std::string column_of(const Key& key)
{
  std::string name(key.path);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

const std::vector<const Key*>& column_keys()
{
  static const auto keys = [] {
    std::vector<const Key*> found;
    for (const auto& key : spec_keys())
      if (key.field != nullptr && !key.path.starts_with("study.")) found.push_back(&key);
    return found;
  }();
  return keys;
}

Cell cell_of(const FieldValue& value)
{
  struct Converter {
    Cell operator()(std::int64_t v) const { return v; }
    Cell operator()(double v) const { return v; }
    Cell operator()(bool v) const { return std::int64_t{v}; }
    Cell operator()(const std::string& v) const { return v; }
    Cell operator()(const std::vector<std::int64_t>& v) const { return json_text(v); }
    Cell operator()(const std::vector<std::string>& v) const { return json_text(v); }
    Cell operator()(const std::map<std::string, std::string>& v) const { return json_text(Json(v)); }
  };
  return std::visit(Converter{}, value);
}

std::string series_of(std::string_view label)
{
  auto words = split(label, ' ');
  // Ranks a node are the size where nothing else is; beside a size they are another line of points.
  if (std::none_of(words.begin(), words.end(), is_size)) std::erase_if(words, is_density);
  std::erase_if(words, is_size);
  return join(words, " ");
}

std::string label_in_name(std::string_view run_name, std::string_view study_name)
{
  if (!run_name.starts_with(study_name)) return {};
  run_name.remove_prefix(study_name.size());
  if (const auto repeat = run_name.rfind("/#"); repeat != run_name.npos && is_number(run_name.substr(repeat + 2)))
    run_name = run_name.substr(0, repeat);
  constexpr std::string_view control = "/control #";
  if (const auto at = run_name.rfind(control); at != run_name.npos && is_number(run_name.substr(at + control.size())))
    run_name = run_name.substr(0, at);
  if (run_name.starts_with('/')) run_name.remove_prefix(1);
  return std::string(run_name);
}

void write_study(Connection& connection, const StudyRecord& study)
{
  const auto study_id = write_study_row(connection, study);
  connection.statement("DELETE FROM study_runs WHERE study_id = ?").run(study_id);
  auto add_run = connection.statement("INSERT INTO runs (key) VALUES (?) ON CONFLICT (key) DO NOTHING");
  auto add = connection.statement("INSERT INTO study_runs (study_id, position, run_id, name, label, series, series_key, control) "
                                  "VALUES (?, ?, (SELECT id FROM runs WHERE key = ?), ?, ?, ?, ?, ?)");
  const std::set<std::string> controls(study.control_keys.begin(), study.control_keys.end());
  for (std::size_t i = 0; i < study.run_keys.size(); ++i) {
    const auto& key = study.run_keys[i];
    const auto name = i < study.run_names.size() ? study.run_names[i] : key;
    const auto label = label_in_name(name, study.name);
    add_run.run(key);
    const auto series = series_of(label);
    add.run(study_id, static_cast<std::int64_t>(i), key, name, label, series, natural_key(series), controls.contains(key));
  }
}

std::int64_t write_run(Connection& connection, const PlannedRun& planned, const RunVerdict& verdict,
                       const std::string& fingerprint)
{
  static const std::string sql = run_upsert();
  const auto spec = without_secrets(planned.spec);
  auto statement = connection.statement(sql);
  statement.bind(planned.key, name_of(verdict.state), verdict.cause, verdict.evidence, verdict.attempt, fingerprint,
                 planned.engine_build, planned.data_id, spec.label, spec.repeat, spec.ranks(), spec.workers(),
                 spec.cores(), spec.effective_global_batch(), spec.effective_batch_per_rank());
  int parameter = 15;
  for (const auto* key : column_keys()) statement.bind_at(++parameter, cell_of(value_of(spec, *key)));
  statement.next();
  const auto id = statement.integer(0);
  statement.finish();
  return id;
}

void write_attempt(Connection& connection, std::int64_t run_id, const AttemptFacts& facts)
{
  static const std::string sql = upsert("attempts",
                                        {"run_id",
                                         "attempt",
                                         "token",
                                         "scheduler",
                                         "study_key",
                                         "job_id",
                                         "submitted_unix_s",
                                         "begin_unix_s",
                                         "host",
                                         "pid",
                                         "ranks",
                                         "nodes",
                                         "threads_per_rank",
                                         "end_unix_s",
                                         "exit_code",
                                         "error_rank",
                                         "error_host",
                                         "error_cause",
                                         "error_step",
                                         "error_unix_s",
                                         "restart",
                                         "launches",
                                         "preempted_unix_s",
                                         "preempted_step",
                                         "preempted_signal",
                                         "checkpoint",
                                         "fenced_by"},
                                        "run_id, attempt");
  const auto& s = facts.submission;
  const auto& b = facts.begin;
  const auto& e = facts.error;
  const auto& p = facts.preemption;
  const auto of = [](const auto& record, auto member) {
    using Value = std::decay_t<decltype((*record).*member)>;
    return record ? std::optional<Value>((*record).*member) : std::nullopt;
  };
  const auto token = of(s, &Submission::token);
  connection.statement("DELETE FROM attempts WHERE run_id = ? AND attempt = ? AND token IS NOT ?")
      .run(run_id, facts.number, token);
  connection.statement(sql).run(run_id, facts.number, token, of(s, &Submission::scheduler), of(s, &Submission::study),
                                of(s, &Submission::job_id), of(s, &Submission::submitted_unix_s), of(b, &BeginRecord::unix_s),
                                of(b, &BeginRecord::host), of(b, &BeginRecord::pid), of(b, &BeginRecord::ranks),
                                of(b, &BeginRecord::nodes), of(b, &BeginRecord::threads_per_rank), of(facts.end, &JobEnd::unix_s),
                                of(facts.end, &JobEnd::exit_code), of(e, &RankError::rank), of(e, &RankError::host),
                                of(e, &RankError::cause), of(e, &RankError::step), of(e, &RankError::unix_s),
                                of(s, &Submission::restart), facts.launches, of(p, &Preemption::unix_s), of(p, &Preemption::step),
                                of(p, &Preemption::signal), of(p, &Preemption::checkpoint), facts.fenced_by);
  write_probe(connection, run_id, facts);
  write_load(connection, run_id, facts);
}

void keep_attempts(Connection& connection, std::int64_t run_id, const std::vector<AttemptFacts>& attempts)
{
  Json numbers = Json::array();
  for (const auto& attempt : attempts) numbers.push_back(attempt.number);
  connection.statement("DELETE FROM attempts WHERE run_id = ? AND attempt NOT IN (SELECT value FROM json_each(?))")
      .run(run_id, json_text(numbers));
}

void write_current(Connection& connection, std::int64_t run_id, const AttemptFacts* current)
{
  for (const auto* table : {"results", "ranks", "rank_phases", "environment"})
    connection.statement(std::string("DELETE FROM ") + table + " WHERE run_id = ?").run(run_id);
  if (current == nullptr) return;
  write_ranks(connection, run_id, *current);
  if (current->begin)
    for (const auto& [name, value] : current->begin->environment)
      connection.statement("INSERT INTO environment (run_id, name, value) VALUES (?, ?, ?)").run(run_id, name, value);
  if (!current->result) return;
  write_result(connection, run_id, current->number, *current->result);
  for (const auto& rank : current->result->ranks) write_phases(connection, run_id, rank);
}

std::size_t write_events(Connection& connection, std::int64_t run_id, int attempt, std::string_view lines)
{
  const auto events = parse_events(lines);
  write_steps(connection, run_id, attempt, events.steps);
  write_evals(connection, run_id, attempt, events.evals);
  return events.steps.size();
}

} // namespace dt::store
