// The fifth step: strategies with centres, servers and periods, and what they measure.
#include "store/migrations.hpp"

namespace dt::store {
namespace {

constexpr std::string_view sql = R"sql(
-- Keys of the recipe.
ALTER TABLE runs ADD COLUMN train_stall_after INTEGER;
ALTER TABLE runs ADD COLUMN train_trace INTEGER;
ALTER TABLE runs ADD COLUMN optimizer_trust REAL;
ALTER TABLE runs ADD COLUMN sync_period INTEGER;
ALTER TABLE runs ADD COLUMN sync_alpha REAL;
ALTER TABLE runs ADD COLUMN sync_rho REAL;
ALTER TABLE runs ADD COLUMN sync_elastic TEXT;
ALTER TABLE runs ADD COLUMN sync_pack INTEGER;
ALTER TABLE runs ADD COLUMN sync_bucket_bytes INTEGER;
ALTER TABLE runs ADD COLUMN sync_progress TEXT;
ALTER TABLE runs ADD COLUMN sync_wire TEXT;
ALTER TABLE runs ADD COLUMN sync_overlap INTEGER;
ALTER TABLE runs ADD COLUMN sync_servers INTEGER;
ALTER TABLE runs ADD COLUMN sync_server_placement TEXT;
ALTER TABLE runs ADD COLUMN sync_server_threads INTEGER;
ALTER TABLE runs ADD COLUMN sync_node_period INTEGER;
ALTER TABLE runs ADD COLUMN sync_local_start REAL;
ALTER TABLE runs ADD COLUMN sync_topology TEXT;
ALTER TABLE runs ADD COLUMN sync_evaluate TEXT;
ALTER TABLE runs ADD COLUMN resources_hosts TEXT;
ALTER TABLE runs ADD COLUMN resources_nodes_per_supernode INTEGER;

-- isolated_communication_s: one step's communication with nothing beside it. accuracy_*: of the last model of each kind.
-- staleness_*: updates of the centre by others between a worker's read and its own update. facts: JSON, what the run found out.
ALTER TABLE results ADD COLUMN isolated_communication_s REAL;
ALTER TABLE results ADD COLUMN accuracy_centre REAL;
ALTER TABLE results ADD COLUMN accuracy_worker REAL;
ALTER TABLE results ADD COLUMN accuracy_average REAL;
ALTER TABLE results ADD COLUMN staleness_updates INTEGER;
ALTER TABLE results ADD COLUMN staleness_mean REAL;
ALTER TABLE results ADD COLUMN staleness_p95 REAL;
ALTER TABLE results ADD COLUMN staleness_max REAL;
ALTER TABLE results ADD COLUMN facts TEXT;

-- "worker" or "server".
ALTER TABLE ranks ADD COLUMN role TEXT;

-- The views again, with the new columns.
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
  results.isolated_communication_s AS isolated_communication_s,
  results.accuracy_centre AS accuracy_centre,
  results.accuracy_worker AS accuracy_worker,
  results.accuracy_average AS accuracy_average,
  results.staleness_updates AS staleness_updates,
  results.staleness_mean AS staleness_mean,
  results.staleness_p95 AS staleness_p95,
  results.staleness_max AS staleness_max,
  results.facts AS facts,
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
  runs.train_stall_after AS train_stall_after,
  runs.train_trace AS train_trace,
  runs.optimizer_name AS optimizer_name,
  runs.optimizer_learning_rate AS optimizer_learning_rate,
  runs.optimizer_momentum AS optimizer_momentum,
  runs.optimizer_weight_decay AS optimizer_weight_decay,
  runs.optimizer_trust AS optimizer_trust,
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
  runs.sync_period AS sync_period,
  runs.sync_alpha AS sync_alpha,
  runs.sync_rho AS sync_rho,
  runs.sync_elastic AS sync_elastic,
  runs.sync_pack AS sync_pack,
  runs.sync_bucket_bytes AS sync_bucket_bytes,
  runs.sync_progress AS sync_progress,
  runs.sync_wire AS sync_wire,
  runs.sync_overlap AS sync_overlap,
  runs.sync_servers AS sync_servers,
  runs.sync_server_placement AS sync_server_placement,
  runs.sync_server_threads AS sync_server_threads,
  runs.sync_node_period AS sync_node_period,
  runs.sync_local_start AS sync_local_start,
  runs.sync_topology AS sync_topology,
  runs.sync_evaluate AS sync_evaluate,
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
  runs.resources_hosts AS resources_hosts,
  runs.resources_nodes_per_supernode AS resources_nodes_per_supernode,
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
)sql";

} // namespace

Migration strategy_runs() { return {5, "strategies: periods, servers, centres, staleness", std::string(sql)}; }

} // namespace dt::store
