#include "store/migrations.hpp"

#include "core/error.hpp"

#include <string>

namespace dt::store {
namespace {

constexpr std::int64_t application_id = 0x64746374; // "dtct": tells our files from other SQLite files

// Integer ids hold the tables together; keys (hashes) are what the outside knows. Steps, phases and the like are clustered by
// run, so that reading one run touches neighbouring pages and a step costs no id of its own.
constexpr std::string_view tables = R"sql(
CREATE TABLE studies (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  kind TEXT NOT NULL,
  recipe_path TEXT NOT NULL,
  recipe_text TEXT NOT NULL,
  created_unix_s REAL NOT NULL,
  submitted_unix_s REAL NOT NULL
) STRICT;

-- A study may be known before its runs' folders were read: then a run has its key and nothing else.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL DEFAULT 'planned',
  cause TEXT NOT NULL DEFAULT '',
  evidence TEXT NOT NULL DEFAULT '',
  attempt INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT,
  engine_build TEXT,
  data_id TEXT,
  label TEXT,
  repeat INTEGER,
  ranks INTEGER,
  cores INTEGER,
  global_batch INTEGER,
  batch_per_rank INTEGER,
  name TEXT,
  description TEXT,
  model_name TEXT,
  data_name TEXT,
  data_path TEXT,
  data_train_samples INTEGER,
  data_test_samples INTEGER,
  data_channels INTEGER,
  data_height INTEGER,
  data_width INTEGER,
  data_classes INTEGER,
  data_shuffle INTEGER,
  data_prefetch_batches INTEGER,
  train_batch_per_rank INTEGER,
  train_global_batch INTEGER,
  train_epochs REAL,
  train_steps INTEGER,
  train_warmup_steps INTEGER,
  train_seed INTEGER,
  train_eval_every_epochs REAL,
  train_target_accuracy REAL,
  train_stop_at_target INTEGER,
  optimizer_name TEXT,
  optimizer_learning_rate REAL,
  optimizer_momentum REAL,
  optimizer_weight_decay REAL,
  optimizer_schedule TEXT,
  optimizer_step_epochs REAL,
  optimizer_step_factor REAL,
  optimizer_polynomial_power REAL,
  optimizer_final_learning_rate REAL,
  optimizer_warmup_epochs REAL,
  optimizer_warmup_factor REAL,
  optimizer_linear_scaling INTEGER,
  sync_strategy TEXT,
  sync_allreduce TEXT,
  resources_nodes INTEGER,
  resources_ranks_per_node INTEGER,
  resources_threads_per_rank INTEGER,
  resources_time_limit INTEGER,
  resources_oversubscribe INTEGER,
  resources_scheduler TEXT,
  resources_launcher TEXT,
  resources_launcher_args TEXT,
  resources_partition TEXT,
  resources_account TEXT,
  resources_qos TEXT,
  resources_constraint TEXT,
  resources_modules TEXT,
  resources_env TEXT,
  resources_setup TEXT,
  resources_scheduler_args TEXT
) STRICT;

CREATE TABLE study_runs (
  study_id INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  series TEXT NOT NULL,
  PRIMARY KEY (study_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  token TEXT,
  scheduler TEXT,
  study_key TEXT,
  job_id TEXT,
  submitted_unix_s REAL,
  begin_unix_s REAL,
  host TEXT,
  pid INTEGER,
  ranks INTEGER,
  nodes INTEGER,
  threads_per_rank INTEGER,
  end_unix_s REAL,
  exit_code INTEGER,
  error_rank INTEGER,
  error_host TEXT,
  error_cause TEXT,
  error_step INTEGER,
  error_unix_s REAL,
  events_bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  run_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  step INTEGER NOT NULL,
  epoch REAL,
  elapsed_s REAL,
  loss REAL,
  learning_rate REAL,
  step_s REAL,
  input_s REAL,
  forward_s REAL,
  backward_s REAL,
  communication_s REAL,
  optimizer_s REAL,
  PRIMARY KEY (run_id, attempt, step),
  FOREIGN KEY (run_id, attempt) REFERENCES attempts (run_id, attempt) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE evals (
  run_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  step INTEGER NOT NULL,
  epoch REAL,
  elapsed_s REAL,
  loss REAL,
  accuracy REAL,
  samples INTEGER,
  eval_s REAL,
  PRIMARY KEY (run_id, attempt, step),
  FOREIGN KEY (run_id, attempt) REFERENCES attempts (run_id, attempt) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Of the attempt that runs.attempt names, as are the three tables below.
CREATE TABLE results (
  run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  finished_unix_s REAL,
  steps INTEGER,
  warmup_steps INTEGER,
  measured_samples INTEGER,
  measured_s REAL,
  throughput REAL,
  wall_s REAL,
  communication_share REAL,
  final_loss REAL,
  eval_loss REAL,
  accuracy REAL,
  best_accuracy REAL,
  time_to_accuracy_s REAL,
  step_p50_s REAL,
  bytes_sent INTEGER,
  messages_sent INTEGER,
  memory_peak_bytes INTEGER,
  parameters INTEGER,
  weights_hash TEXT
) STRICT;

CREATE TABLE ranks (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  host TEXT,
  mask TEXT,
  bytes_sent INTEGER,
  messages_sent INTEGER,
  memory_peak_bytes INTEGER,
  PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE rank_phases (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  phase TEXT NOT NULL,
  total_s REAL,
  mean_s REAL,
  p50_s REAL,
  p95_s REAL,
  p99_s REAL,
  max_s REAL,
  PRIMARY KEY (run_id, rank, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view indexes_and_views = R"sql(
CREATE INDEX studies_by_name ON studies (name, submitted_unix_s);
CREATE INDEX studies_by_time ON studies (submitted_unix_s);
CREATE INDEX study_runs_by_run ON study_runs (run_id);
CREATE INDEX study_runs_by_name ON study_runs (name);
CREATE INDEX runs_by_state ON runs (state);

-- One row a run.
CREATE VIEW runs_results AS
SELECT
  runs.id AS run_id,
  runs.key AS key,
  runs.repeat AS repeat,
  runs.state AS state,
  runs.cause AS cause,
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
  runs.resources_ranks_per_node AS ranks_per_node,
  runs.resources_threads_per_rank AS threads,
  runs.cores AS cores,
  runs.global_batch AS global_batch,
  runs.batch_per_rank AS batch_per_rank,
  results.throughput AS throughput,
  results.communication_share AS communication_share,
  results.accuracy AS accuracy,
  results.best_accuracy AS best_accuracy,
  results.time_to_accuracy_s AS time_to_accuracy_s,
  results.wall_s AS wall_s,
  results.final_loss AS final_loss,
  results.eval_loss AS eval_loss,
  results.step_p50_s AS step_p50_s,
  results.measured_samples AS measured_samples,
  results.measured_s AS measured_s,
  results.steps AS steps,
  results.warmup_steps AS warmup_steps,
  results.bytes_sent AS bytes_sent,
  results.messages_sent AS messages_sent,
  results.memory_peak_bytes AS memory_peak_bytes,
  results.parameters AS parameters,
  results.weights_hash AS weights_hash,
  results.finished_unix_s AS finished_unix_s,
  attempts.submitted_unix_s AS submitted_unix_s,
  attempts.begin_unix_s AS begin_unix_s,
  attempts.end_unix_s AS end_unix_s,
  attempts.exit_code AS exit_code,
  attempts.job_id AS job_id,
  attempts.host AS host,
  runs.evidence AS evidence,
  runs.engine_build AS engine_build,
  runs.data_id AS data_id,
  runs.name AS recipe,
  runs.label AS recipe_label,
  runs.description AS description,
  runs.model_name AS model_name,
  runs.data_name AS data_name,
  runs.data_path AS data_path,
  runs.data_train_samples AS data_train_samples,
  runs.data_test_samples AS data_test_samples,
  runs.data_channels AS data_channels,
  runs.data_height AS data_height,
  runs.data_width AS data_width,
  runs.data_classes AS data_classes,
  runs.data_shuffle AS data_shuffle,
  runs.data_prefetch_batches AS data_prefetch_batches,
  runs.train_batch_per_rank AS train_batch_per_rank,
  runs.train_global_batch AS train_global_batch,
  runs.train_epochs AS train_epochs,
  runs.train_steps AS train_steps,
  runs.train_warmup_steps AS train_warmup_steps,
  runs.train_seed AS train_seed,
  runs.train_eval_every_epochs AS train_eval_every_epochs,
  runs.train_target_accuracy AS train_target_accuracy,
  runs.train_stop_at_target AS train_stop_at_target,
  runs.optimizer_name AS optimizer_name,
  runs.optimizer_learning_rate AS optimizer_learning_rate,
  runs.optimizer_momentum AS optimizer_momentum,
  runs.optimizer_weight_decay AS optimizer_weight_decay,
  runs.optimizer_schedule AS optimizer_schedule,
  runs.optimizer_step_epochs AS optimizer_step_epochs,
  runs.optimizer_step_factor AS optimizer_step_factor,
  runs.optimizer_polynomial_power AS optimizer_polynomial_power,
  runs.optimizer_final_learning_rate AS optimizer_final_learning_rate,
  runs.optimizer_warmup_epochs AS optimizer_warmup_epochs,
  runs.optimizer_warmup_factor AS optimizer_warmup_factor,
  runs.optimizer_linear_scaling AS optimizer_linear_scaling,
  runs.sync_strategy AS sync_strategy,
  runs.sync_allreduce AS sync_allreduce,
  runs.resources_nodes AS resources_nodes,
  runs.resources_ranks_per_node AS resources_ranks_per_node,
  runs.resources_threads_per_rank AS resources_threads_per_rank,
  runs.resources_time_limit AS resources_time_limit,
  runs.resources_oversubscribe AS resources_oversubscribe,
  runs.resources_scheduler AS resources_scheduler,
  runs.resources_launcher AS resources_launcher,
  runs.resources_launcher_args AS resources_launcher_args,
  runs.resources_partition AS resources_partition,
  runs.resources_account AS resources_account,
  runs.resources_qos AS resources_qos,
  runs.resources_constraint AS resources_constraint,
  runs.resources_modules AS resources_modules,
  runs.resources_env AS resources_env,
  runs.resources_setup AS resources_setup,
  runs.resources_scheduler_args AS resources_scheduler_args
FROM runs
LEFT JOIN results ON results.run_id = runs.id
LEFT JOIN attempts ON attempts.run_id = runs.id AND attempts.attempt = runs.attempt;

-- One row for every run of every study, and one for a run that no study has. newest: 1 in the newest study that has the run.
-- (Two arms, because a LEFT JOIN from runs would read all runs to find those of one study.)
CREATE VIEW runs_flat AS
SELECT
  studies.name AS study,
  studies.key AS study_key,
  studies.submitted_unix_s AS study_submitted_unix_s,
  NOT EXISTS (
    SELECT 1 FROM study_runs AS other JOIN studies AS later ON later.id = other.study_id
    WHERE other.run_id = study_runs.run_id
      AND (later.submitted_unix_s, later.key, other.position) > (studies.submitted_unix_s, studies.key, study_runs.position)
  ) AS newest,
  study_runs.name AS name,
  study_runs.label AS label,
  study_runs.series AS series,
  study_runs.position AS position,
  runs_results.*
FROM study_runs JOIN studies ON studies.id = study_runs.study_id JOIN runs_results ON runs_results.run_id = study_runs.run_id
UNION ALL
SELECT
  NULL, NULL, NULL, 1,
  recipe || iif(recipe_label = '', '', '/' || recipe_label) || '/#' || (repeat + 1), recipe_label, NULL, NULL,
  runs_results.*
FROM runs_results WHERE NOT EXISTS (SELECT 1 FROM study_runs WHERE study_runs.run_id = runs_results.run_id);

CREATE VIEW phases_flat AS
SELECT
  runs.key AS key,
  runs.state AS state,
  runs.model_name AS model,
  runs.data_name AS data,
  runs.sync_strategy AS strategy,
  runs.sync_allreduce AS allreduce,
  runs.resources_nodes AS nodes,
  runs.ranks AS ranks,
  runs.resources_threads_per_rank AS threads,
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

-- A point is what a study ran at one size: the runs that differ in their repeat only. Medians are over its succeeded runs.
-- N, the size, is nodes when a series varies them at a fixed number of ranks a node, else ranks; N0 is its smallest measured one.
-- (Windows partitioned by the study's columns, and no GROUP BY: so a WHERE on those columns reaches the innermost table.)
CREATE VIEW scaling AS
WITH
  measured AS (
    SELECT
      studies.name AS study, studies.key AS study_key, studies.kind AS kind, study_runs.series, runs.resources_nodes AS nodes, runs.ranks,
      runs.state = 'succeeded' AS succeeded,
      iif(runs.state = 'succeeded', results.throughput, NULL) AS throughput,
      iif(runs.state = 'succeeded', results.communication_share, NULL) AS communication_share,
      iif(runs.state = 'succeeded', results.accuracy, NULL) AS accuracy,
      iif(runs.state = 'succeeded', results.time_to_accuracy_s, NULL) AS time_to_accuracy_s
    FROM studies
    JOIN study_runs ON study_runs.study_id = studies.id
    JOIN runs ON runs.id = study_runs.run_id
    LEFT JOIN results ON results.run_id = runs.id
    WHERE runs.ranks IS NOT NULL
  ),
  ranked AS (
    SELECT
      *,
      row_number() OVER (point ORDER BY throughput NULLS LAST) AS throughput_at,
      count(throughput) OVER point AS throughputs,
      row_number() OVER (point ORDER BY communication_share NULLS LAST) AS share_at,
      count(communication_share) OVER point AS shares,
      row_number() OVER (point ORDER BY accuracy NULLS LAST) AS accuracy_at,
      count(accuracy) OVER point AS accuracies,
      row_number() OVER (point ORDER BY time_to_accuracy_s NULLS LAST) AS time_at,
      count(time_to_accuracy_s) OVER point AS times
    FROM measured
    WINDOW point AS (PARTITION BY study, study_key, kind, series, nodes, ranks)
  ),
  points AS (
    SELECT
      study, study_key, kind, series, nodes, ranks, throughput_at AS copy,
      count(*) OVER point AS runs,
      sum(succeeded) OVER point AS succeeded,
      avg(iif(throughput_at IN ((throughputs + 1) / 2, (throughputs + 2) / 2), throughput, NULL)) OVER point AS throughput,
      min(throughput) OVER point AS throughput_min,
      max(throughput) OVER point AS throughput_max,
      avg(iif(share_at IN ((shares + 1) / 2, (shares + 2) / 2), communication_share, NULL)) OVER point AS communication_share,
      avg(iif(accuracy_at IN ((accuracies + 1) / 2, (accuracies + 2) / 2), accuracy, NULL)) OVER point AS accuracy,
      avg(iif(time_at IN ((times + 1) / 2, (times + 2) / 2), time_to_accuracy_s, NULL)) OVER point AS time_to_accuracy_s
    FROM ranked
    WINDOW point AS (PARTITION BY study, study_key, kind, series, nodes, ranks)
  ),
  sized AS (
    SELECT
      *,
      count(*) OVER line AS sizes,
      iif(min(nodes) OVER line <> max(nodes) OVER line AND min(ranks / nodes) OVER line = max(ranks / nodes) OVER line, nodes, ranks) AS size
    FROM points
    WHERE copy = 1
    WINDOW line AS (PARTITION BY study, study_key, kind, series)
  ),
  based AS (
    SELECT
      *,
      first_value(throughput) OVER (line ORDER BY throughput IS NULL, size, nodes) AS base_throughput,
      first_value(size) OVER (line ORDER BY throughput IS NULL, size, nodes) AS base_size
    FROM sized
    WINDOW line AS (PARTITION BY study, study_key, kind, series)
  )
SELECT
  study, study_key, kind, series AS label, nodes, ranks, size, runs, succeeded, throughput, throughput_min, throughput_max,
  iif(kind IN ('strong', 'weak') OR sizes > 1, throughput / base_throughput * base_size, NULL) AS speedup,
  iif(kind IN ('strong', 'weak') OR sizes > 1, throughput / base_throughput * base_size / size, NULL) AS efficiency,
  communication_share, accuracy, time_to_accuracy_s
FROM based;
)sql";

// What came with Slurm: checkpoints, restarts, launches.
constexpr std::string_view slurm = R"sql(
ALTER TABLE runs ADD COLUMN train_checkpoint_every INTEGER;
ALTER TABLE runs ADD COLUMN resources_signal_ahead INTEGER;
ALTER TABLE runs ADD COLUMN resources_requeue INTEGER;
ALTER TABLE runs ADD COLUMN resources_launch_tries INTEGER;
ALTER TABLE runs ADD COLUMN resources_max_rpc_per_s REAL;
)sql";

void apply(Connection& connection, const Migration& migration)
{
  Transaction transaction(connection);
  // Another process may have done it between our look and our lock.
  if (connection.integer_of("PRAGMA user_version") >= migration.version) return;
  connection.execute(migration.sql);
  connection.execute("PRAGMA application_id = " + std::to_string(application_id));
  connection.execute("PRAGMA user_version = " + std::to_string(migration.version));
  transaction.commit();
}

} // namespace

const std::vector<Migration>& migrations()
{
  static const std::vector<Migration> all{
      {1, "tables", std::string(tables)},
      {2, "indexes and views", std::string(indexes_and_views)},
      {3, "slurm", std::string(slurm)},
      cluster_runs(),
      strategy_runs(),
      compute_runs(),
      worker_counts(),
      machine_loads(),
  };
  return all;
}

int latest_version() { return migrations().back().version; }

int schema_version(Connection& connection)
{
  const auto name = connection.file().string();
  // In one statement, so in one snapshot: another process may be making the file at this moment.
  auto marks = connection.statement("SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) "
                                    "FROM pragma_user_version, pragma_application_id");
  marks.next();
  const auto version = marks.integer(0), owner = marks.integer(1), entries = marks.integer(2);
  marks.finish();
  const bool empty = version == 0 && owner == 0 && entries == 0;
  if (!empty && owner != application_id)
    throw Error(ErrorKind::environment,
                name + " is another program's database. Move it away, or choose another folder with DTCTL_HOME");
  if (version > latest_version())
    throw Error(ErrorKind::environment,
                name + " has format " + std::to_string(version) + " and this dtctl knows formats up to " +
                    std::to_string(latest_version()) +
                    ": a newer dtctl made it. Use that one, or move the file away and call: dtctl db rebuild");
  return static_cast<int>(version);
}

void migrate(Connection& connection, int target)
{
  for (const auto& migration : migrations())
    if (migration.version > schema_version(connection) && migration.version <= target) apply(connection, migration);
}

} // namespace dt::store
