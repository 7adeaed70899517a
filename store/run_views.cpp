// The views of runs as the newest steps make them: their columns of the recipe come from the table of keys.
#include "store/migrations.hpp"
#include "store/rows.hpp"

namespace dt::store {
namespace {

// What a run is, and what became of it.
constexpr std::string_view outcome = R"sql(
DROP VIEW IF EXISTS runs_flat;
DROP VIEW IF EXISTS runs_results;

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
  runs.workers AS workers,
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
  runs.description AS description)sql";

constexpr std::string_view sources = R"sql(
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

bool has_column_above(const Key& key) { return key.path == "name" || key.path == "description"; }

} // namespace

std::string run_views()
{
  std::string sql(outcome);
  for (const auto* key : column_keys())
    if (!has_column_above(*key)) sql += ",\n  runs." + column_of(*key) + " AS " + column_of(*key);
  return sql.append(sources);
}

} // namespace dt::store
