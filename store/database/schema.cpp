#include "store/database/schema.hpp"

#include "core/record/fields.hpp"
#include "core/text.hpp"
#include "store/analysis/statistics/scaling.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace dt::store {
namespace {

// A line of CREATE TABLE for each field: "  throughput REAL,\n". Fields that are lists have tables of their own.
template<class Record> std::string columns_of(Fields<Record> fields, std::string_view constraint = "")
{
  std::string text;
  for (const auto& field : fields) {
    if (std::holds_alternative<std::vector<std::string>>(value_of(field, Record{}))) continue;
    text += "  " + field.column() + " " + std::string(sql_type_of(field)) + std::string(constraint) + ",\n";
  }
  return text;
}

// The same without the fields of these names.
template<class Record>
std::string columns_but(Fields<Record> fields, const std::vector<std::string_view>& left_out, std::string_view constraint = "")
{
  std::vector<Field<Record>> kept;
  for (const auto& field : fields)
    if (std::find(left_out.begin(), left_out.end(), field.name) == left_out.end()) kept.push_back(field);
  return columns_of(Fields<Record>(kept), constraint);
}

std::string with_not_finite(std::string columns) { return columns += "  " + std::string(not_finite_column) + " TEXT,\n"; }

// One row: the hash of the schema that the file was made for, and of what it then had. They differ where columns were added.
// notes_stamp: of the notes.json that was taken in (stamp_of_notes).
constexpr std::string_view format_table =
    "CREATE TABLE format (schema_hash TEXT NOT NULL, file_hash TEXT, notes_stamp TEXT) STRICT;\n";

// Integer ids hold the tables together; keys (hashes) are what dtctl prints. Steps, phases and the like are clustered by run
// (WITHOUT ROWID), so that reading one run touches neighbouring pages and a step costs no id of its own.
std::string studies_table()
{
  auto columns = columns_but(stored_study_fields(), {"id"}, " NOT NULL");
  return "CREATE TABLE studies (\n  id INTEGER PRIMARY KEY,\n  key TEXT NOT NULL UNIQUE,\n" + columns +
         "  points_current INTEGER\n) STRICT;\n"; // 1: `points` agrees with the study's runs; 0: it does not; -1: study.json must
                                                  // be read again, too
}

// The points of a study, computed by scaling_of when the runs are taken in.
std::string points_table()
{
  return "\nCREATE TABLE points (\n  study_id INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,\n  position INTEGER "
         "NOT NULL,\n" +
         columns_of(scaling_fields()) + "  PRIMARY KEY (study_id, position)\n) STRICT, WITHOUT ROWID;\n";
}

// Predictions of sizes that had not run, from <home>/predictions.
std::string predictions_table()
{
  return "\nCREATE TABLE predictions (\n" + columns_but(prediction_fields(), {"id"}) + "  id TEXT PRIMARY KEY\n) STRICT;\n";
}

// A study may be known before the folders of its runs were read: then a run has its key and nothing else.
std::string runs_table()
{
  std::string text = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL DEFAULT 'planned',
  cause TEXT NOT NULL DEFAULT '',
  cause_kind TEXT,
  evidence TEXT NOT NULL DEFAULT '',
  attempt INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT,
  engine_build TEXT,
  data_id TEXT,
  label TEXT,
  repeat INTEGER,
  ranks INTEGER,
  workers INTEGER,
  cores INTEGER,
  global_batch INTEGER,
  batch_per_rank INTEGER)sql";
  for (const auto* key : column_keys()) text += ",\n  " + column_of(*key) + " " + std::string(sql_type_of(default_of(*key)));
  return text + "\n) STRICT;\n";
}

// control: 1 for an A/A control, which measures the machine's drift and is no part of the study's points.
constexpr std::string_view study_runs_table = R"sql(
CREATE TABLE study_runs (
  study_id INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  series TEXT NOT NULL,
  control INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (study_id, position)
) STRICT, WITHOUT ROWID;
)sql";

// The figures of a run's attempts, from several files. launches: how often its ranks were started; fenced_by: the attempt that
// took this one's place; events_bytes: how much of events.log was read.
std::string attempts_table()
{
  return "\nCREATE TABLE attempts (\n  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,\n  attempt INTEGER NOT "
         "NULL,\n" +
         columns_but(submission_fields(), {"attempt", "launch_tries", "after", "git_state"}) +
         columns_but(begin_fields(), {"rank_hosts", "rank_masks", "environment"}) + "  end_unix_s REAL,\n  exit_code INTEGER,\n" +
         columns_of(error_fields()) + "  launches INTEGER,\n" + "  preempted_unix_s REAL,\n" +
         columns_but(preemption_fields(), {"unix_s", "steps"}) + "  fenced_by INTEGER,\n" +
         "  events_bytes INTEGER NOT NULL DEFAULT 0,\n  PRIMARY KEY (run_id, attempt)\n) STRICT, WITHOUT ROWID;\n";
}

constexpr std::string_view of_an_attempt =
    "  FOREIGN KEY (run_id, attempt) REFERENCES attempts (run_id, attempt) ON DELETE CASCADE\n) STRICT, WITHOUT ROWID;\n";

std::string table_of_attempts(std::string_view name, const std::string& columns, std::string_view key)
{
  return "\nCREATE TABLE " + std::string(name) + " (\n  run_id INTEGER NOT NULL,\n  attempt INTEGER NOT NULL,\n" + columns +
         "  PRIMARY KEY (run_id, attempt, " + std::string(key) + "),\n" + std::string(of_an_attempt);
}

std::string table_of_runs(std::string_view name, const std::string& columns, std::string_view key)
{
  return "\nCREATE TABLE " + std::string(name) + " (\n  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,\n" +
         columns + "  PRIMARY KEY (run_id, " + std::string(key) + ")\n) STRICT, WITHOUT ROWID;\n";
}

std::string results_table()
{
  auto columns = with_not_finite(columns_of(result_fields()));
  return "\nCREATE TABLE results (\n  run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,\n"
         "  attempt INTEGER NOT NULL,\n" +
         columns.substr(0, columns.size() - 2) + "\n) STRICT;\n";
}

// Notes and tags of studies and runs: `key` is the id of a study or the key of a run. They have no reference: the rows are
// those of <home>/notes.json, which is taken in as a whole.
constexpr std::string_view notes_tables = R"sql(
CREATE TABLE note_texts (
  key TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  changed_unix_s REAL NOT NULL
) STRICT;

CREATE TABLE note_tags (
  key TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (key, tag)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view indexes = R"sql(
CREATE INDEX studies_by_name ON studies (name, submitted_unix_s);
CREATE INDEX studies_by_time ON studies (submitted_unix_s);
CREATE INDEX studies_without_points ON studies (id) WHERE points_current IS NOT 1;
CREATE INDEX study_runs_by_run ON study_runs (run_id);
CREATE INDEX study_runs_by_name ON study_runs (name);
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX note_tags_by_name ON note_tags (tag);
CREATE INDEX runs_to_read_again ON runs (key) WHERE fingerprint = '' AND ranks IS NOT NULL;
)sql";

// 1 in the rows of the newest of the studies that have one name.
constexpr std::string_view study_newest =
    "  NOT EXISTS (\n    SELECT 1 FROM studies AS later\n    WHERE later.name = studies.name\n"
    "      AND (later.submitted_unix_s, later.key) > (studies.submitted_unix_s, studies.key)\n  ) AS study_newest";

// The columns of a run under short names.
constexpr std::string_view run_columns = R"sql(
-- One row for each run.
CREATE VIEW runs_results AS
SELECT
  runs.id AS run_id,
  runs.key AS key,
  runs.repeat AS repeat,
  runs.state AS state,
  runs.cause AS cause,
  runs.cause_kind AS cause_kind,
  runs.attempt AS attempt,
  runs.model_name AS model,
  runs.data_name AS data,
  runs.sync_strategy AS strategy,
  runs.sync_allreduce AS allreduce,
  runs.optimizer_name AS optimizer,
  runs.optimizer_learning_rate AS learning_rate,
  runs.train_seed AS seed,
  runs.resources_nodes AS nodes,
  runs.ranks AS ranks,
  runs.workers AS workers,
  runs.resources_ranks_per_node AS ranks_per_node,
  runs.resources_threads_per_rank AS threads,
  runs.cores AS cores,
  coalesce(runs.resources_platform, '') AS platform,
  runs.global_batch AS global_batch,
  runs.batch_per_rank AS batch_per_rank)sql";

// 1: the run reached its target, 0: it missed it. NULL: it has none, has not succeeded or diverged, or nobody knows
// (Run::knows_target).
constexpr std::string_view reached_target_column = R"sql(,
  CASE WHEN runs.state <> 'succeeded' OR results.diverged_step IS NOT NULL THEN NULL
    WHEN results.time_to_accuracy_s IS NOT NULL THEN 1
    WHEN results.samples_to_accuracy = 0 AND runs.train_target_accuracy > 0 THEN 0
  END AS reached_target)sql";

constexpr std::string_view attempt_columns = R"sql(,
  attempts.submitted_unix_s AS submitted_unix_s,
  attempts.begin_unix_s AS begin_unix_s,
  attempts.end_unix_s AS end_unix_s,
  attempts.exit_code AS exit_code,
  attempts.job_id AS job_id,
  attempts.restart AS restarts,
  attempts.launches AS launches,
  attempts.preempted_step AS preempted_step,
  attempts.host AS host,
  runs.evidence AS evidence,
  runs.engine_build AS engine_build,
  runs.data_id AS data_id,
  runs.name AS recipe,
  runs.label AS recipe_label,
  runs.description AS description,
  (SELECT group_concat(tag, ' ') FROM note_tags WHERE note_tags.key = runs.key) AS tags,
  (SELECT text FROM note_texts WHERE note_texts.key = runs.key) AS note)sql";

constexpr std::string_view runs_results_end = R"sql(
FROM runs
LEFT JOIN results ON results.run_id = runs.id
LEFT JOIN attempts ON attempts.run_id = runs.id AND attempts.attempt = runs.attempt;

-- One row for each run of each study, and one row for each run that belongs to no study. control: 1 for an A/A control of the
-- study. study_newest: 1 if no later study has the same name. newest: 1 in the row of the newest study that contains the run.
-- A UNION of two SELECTs, because a LEFT JOIN from runs would read all runs to find those of one study.
CREATE VIEW runs_flat AS
SELECT
  studies.name AS study,
  studies.key AS study_key,
)sql";

constexpr std::string_view runs_flat_rest = R"sql(,
  studies.submitted_unix_s AS study_submitted_unix_s,
  (SELECT group_concat(tag, ' ') FROM note_tags WHERE note_tags.key = studies.key) AS study_tags,
  (SELECT text FROM note_texts WHERE note_texts.key = studies.key) AS study_note,
  NOT EXISTS (
    SELECT 1 FROM study_runs AS other JOIN studies AS later ON later.id = other.study_id
    WHERE other.run_id = study_runs.run_id
      AND (later.submitted_unix_s, later.key, other.position) > (studies.submitted_unix_s, studies.key, study_runs.position)
  ) AS newest,
  study_runs.name AS name,
  study_runs.label AS label,
  study_runs.series AS series,
  study_runs.position AS position,
  study_runs.control AS control,
  runs_results.*
FROM study_runs JOIN studies ON studies.id = study_runs.study_id JOIN runs_results ON runs_results.run_id = study_runs.run_id
UNION ALL
SELECT
  NULL, NULL, NULL, NULL, NULL, NULL, 1,
  recipe || iif(recipe_label = '', '', '/' || recipe_label) || '/#' || (repeat + 1), recipe_label, NULL, NULL, 0,
  runs_results.*
FROM runs_results WHERE NOT EXISTS (SELECT 1 FROM study_runs WHERE study_runs.run_id = runs_results.run_id);
)sql";

// One row for every tag of a run and of each study that contains it.
constexpr std::string_view tagged_runs_view = R"sql(
CREATE VIEW tagged_runs AS
SELECT runs.id AS run_id, runs.key AS key, note_tags.tag AS tag FROM note_tags JOIN runs ON runs.key = note_tags.key
UNION
SELECT runs.id, runs.key, note_tags.tag
FROM note_tags JOIN studies ON studies.key = note_tags.key JOIN study_runs ON study_runs.study_id = studies.id
JOIN runs ON runs.id = study_runs.run_id;
)sql";

// study, study_key: of the newest study that contains the run.
constexpr std::string_view phases_view = R"sql(
CREATE VIEW phases_flat AS
SELECT
  (SELECT studies.name FROM study_runs JOIN studies ON studies.id = study_id WHERE run_id = runs.id
   ORDER BY submitted_unix_s DESC, studies.key DESC LIMIT 1) AS study,
  (SELECT studies.key FROM study_runs JOIN studies ON studies.id = study_id WHERE run_id = runs.id
   ORDER BY submitted_unix_s DESC, studies.key DESC LIMIT 1) AS study_key,
  runs.key AS key,
  runs.state AS state,
  runs.model_name AS model,
  runs.data_name AS data,
  runs.sync_strategy AS strategy,
  runs.sync_allreduce AS allreduce,
  runs.resources_nodes AS nodes,
  runs.ranks AS ranks,
  runs.resources_threads_per_rank AS threads,
  coalesce(runs.resources_platform, '') AS platform,
  runs.global_batch AS global_batch,
  runs.repeat AS repeat,
  rank_phases.rank AS rank,
  ranks.host AS host,
  rank_phases.phase AS phase,
  rank_phases.total_s AS total_s,
  rank_phases.mean_s AS mean_s,
  rank_phases.p50_s AS p50_s,
  rank_phases.p95_s AS p95_s,
  rank_phases.p99_s AS p99_s,
  rank_phases.max_s AS max_s,
  rank_phases.total_s / nullif(whole.total_s, 0) AS share
FROM rank_phases
JOIN runs ON runs.id = rank_phases.run_id
LEFT JOIN ranks ON ranks.run_id = rank_phases.run_id AND ranks.rank = rank_phases.rank
LEFT JOIN rank_phases AS whole ON whole.run_id = rank_phases.run_id AND whole.rank = rank_phases.rank AND whole.phase = 'step';
)sql";

// The points whose runs have a target, the fastest first. Infinity sorts a point that most of its runs missed last, where NULL
// would be first.
constexpr std::string_view times_to_target_view = R"sql(
CREATE VIEW times_to_target AS
SELECT
  study, study_key, study_newest, kind, label, platform, nodes, ranks, workers, size, runs, succeeded, diverged, reached, target_runs,
  coalesce(time_to_accuracy_s, 9e999) AS time_to_target_s
FROM scaling WHERE target_runs > 0
ORDER BY study, study_key, time_to_target_s;
)sql";

std::string scaling_view()
{
  std::string sql = "\nCREATE VIEW scaling AS\nSELECT studies.name AS study, studies.key AS study_key,\n" +
                    std::string(study_newest) + ",\n  studies.kind AS kind";
  for (const auto& field : scaling_fields()) {
    const auto column = "points." + field.column();
    sql += ",\n  " + (field.name == "baseline_size" ? "nullif(" + column + ", 0)" : column) + " AS " + field.column();
  }
  return sql + "\nFROM studies JOIN points ON points.study_id = studies.id\nORDER BY study, study_key, position;\n";
}

bool has_short_name(const Key& key) { return key.path == "name" || key.path == "description"; }

std::string run_views()
{
  std::string sql(run_columns);
  for (const auto& field : result_fields()) sql += ",\n  results." + field.column() + " AS " + field.column();
  sql += ",\n  results." + std::string(not_finite_column) + " AS " + std::string(not_finite_column);
  sql.append(reached_target_column).append(attempt_columns);
  for (const auto* key : column_keys())
    if (!has_short_name(*key)) sql += ",\n  runs." + column_of(*key) + " AS " + column_of(*key);
  return sql.append(runs_results_end).append(study_newest).append(runs_flat_rest);
}

std::string json_text(const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

} // namespace

std::string_view sql_type_of(const FieldValue& value)
{
  struct Types {
    std::string_view operator()(std::int64_t) const { return "INTEGER"; }
    std::string_view operator()(double) const { return "REAL"; }
    std::string_view operator()(bool) const { return "INTEGER"; }
    std::string_view operator()(const std::string&) const { return "TEXT"; }
    std::string_view operator()(const std::vector<std::int64_t>&) const { return "TEXT"; } // lists and maps as JSON
    std::string_view operator()(const std::vector<std::string>&) const { return "TEXT"; }
    std::string_view operator()(const std::map<std::string, std::string>&) const { return "TEXT"; }
  };
  return std::visit(Types{}, value);
}

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

std::string schema()
{
  return std::string(format_table) + studies_table() + runs_table() + std::string(study_runs_table) + points_table() +
         predictions_table() + attempts_table() +
         table_of_attempts("steps", with_not_finite(columns_of(step_event_fields())), "step") +
         table_of_attempts("evals", with_not_finite(columns_of(eval_event_fields())), "step") +
         table_of_attempts("probes", columns_of(rank_probe_fields()) + columns_of(probe_fields()), "rank") +
         table_of_attempts("machine_loads", columns_of(node_load_fields()), "host") + results_table() +
         table_of_runs("ranks", columns_of(rank_fields()) + "  mask TEXT,\n", "rank") +
         table_of_runs("rank_phases", "  rank INTEGER NOT NULL,\n  phase TEXT NOT NULL,\n" + columns_of(phase_fields()),
                       "rank, phase") +
         table_of_runs("buckets", "  bucket INTEGER NOT NULL,\n" + columns_of(bucket_fields()), "bucket") +
         table_of_runs("environment", "  name TEXT NOT NULL,\n  value TEXT NOT NULL,\n", "name") + std::string(notes_tables) +
         std::string(indexes) + run_views() + std::string(tagged_runs_view) + std::string(phases_view) + scaling_view() +
         std::string(times_to_target_view);
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
    Cell operator()(const std::map<std::string, std::string>& v) const { return json_text(v); }
  };
  return std::visit(Converter{}, value);
}

} // namespace dt::store
