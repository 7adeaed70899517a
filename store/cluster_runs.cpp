// The fourth step: what a cluster's runs leave behind.
#include "store/migrations.hpp"

namespace dt::store {
namespace {

constexpr std::string_view sql = R"sql(
-- 1: an A/A control, which measures the machine's drift and is no part of the study's points.
ALTER TABLE study_runs ADD COLUMN control INTEGER NOT NULL DEFAULT 0;

-- restart: how often the scheduler had started the job again; launches: how often its ranks were started; the checkpoint is a
-- file's name; fenced_by: the attempt that took this one's place.
ALTER TABLE attempts ADD COLUMN restart INTEGER;
ALTER TABLE attempts ADD COLUMN launches INTEGER;
ALTER TABLE attempts ADD COLUMN preempted_unix_s REAL;
ALTER TABLE attempts ADD COLUMN preempted_step INTEGER;
ALTER TABLE attempts ADD COLUMN preempted_signal TEXT;
ALTER TABLE attempts ADD COLUMN checkpoint TEXT;
ALTER TABLE attempts ADD COLUMN fenced_by INTEGER;

-- 0: from the beginning.
ALTER TABLE results ADD COLUMN resumed_step INTEGER;

-- A short measurement of each rank's place before the first step. The allreduce is one of all ranks, the same in each row.
CREATE TABLE probes (
  run_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  host TEXT NOT NULL,
  clock_mhz REAL,
  gemm_gflops REAL,
  allreduce_s REAL,
  allreduce_bytes INTEGER,
  unix_s REAL,
  PRIMARY KEY (run_id, attempt, rank),
  FOREIGN KEY (run_id, attempt) REFERENCES attempts (run_id, attempt) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The views again, with the new columns.
DROP VIEW scaling;
DROP VIEW runs_flat;
DROP VIEW runs_results;

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
  results.resumed_step AS resumed_step,
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
  runs.train_checkpoint_every AS train_checkpoint_every,
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
  runs.resources_signal_ahead AS resources_signal_ahead,
  runs.resources_requeue AS resources_requeue,
  runs.resources_launch_tries AS resources_launch_tries,
  runs.resources_max_rpc_per_s AS resources_max_rpc_per_s,
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

-- One row for every run of every study, and one for a run that no study has. control: 1 for an A/A control of that study.
-- newest: 1 in the newest study that has the run.
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
  study_runs.control AS control,
  runs_results.*
FROM study_runs JOIN studies ON studies.id = study_runs.study_id JOIN runs_results ON runs_results.run_id = study_runs.run_id
UNION ALL
SELECT
  NULL, NULL, NULL, 1,
  recipe || iif(recipe_label = '', '', '/' || recipe_label) || '/#' || (repeat + 1), recipe_label, NULL, NULL, 0,
  runs_results.*
FROM runs_results WHERE NOT EXISTS (SELECT 1 FROM study_runs WHERE study_runs.run_id = runs_results.run_id);

-- A point is what a study ran at one size: the runs that differ in their repeat only, without its A/A controls. Medians are over its succeeded runs.
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
    WHERE runs.ranks IS NOT NULL AND NOT study_runs.control
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

} // namespace

Migration cluster_runs() { return {4, "cluster runs: controls, restarts, launches, checkpoints, probes", std::string(sql)}; }

} // namespace dt::store
