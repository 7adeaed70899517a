// The view `scaling`: speed-up and efficiency of every point of every study.
#include "core/text.hpp"
#include "store/analysis/scaling.hpp"
#include "store/database/schema.hpp"

namespace dt::store {
namespace {

// natural_key() is a function of our own connections (store/database/sqlite.cpp). No view calls it, so that any program can read
// the views. The view up to the number of degrees of freedom, f.
constexpr std::string_view scaling_before_interval = R"sql(
-- A point is what a study ran at one size: the runs that differ in their repeat only, without its A/A controls. Medians are over its succeeded
-- runs; a run with a target that it did not reach counts with an infinite time to it. Efficiencies are ratios of geometric means.
-- N, the size, is nodes when a series varies them at a fixed number of workers a node, else workers; N0, the baseline, is its smallest
-- measured one. A baseline above the study's smallest size has no speed-up and no efficiency: it was compared with nothing.
-- (Windows partitioned by the study's columns, and no GROUP BY: so a WHERE on those columns reaches the innermost table.)
CREATE VIEW scaling AS
WITH
  measured AS (
    SELECT
      studies.name AS study, studies.key AS study_key, studies.kind AS kind, study_runs.series, study_runs.series_key,
      runs.resources_nodes AS nodes, runs.ranks, runs.workers,
      runs.state = 'succeeded' AS succeeded,
      iif(runs.state = 'succeeded', results.throughput, NULL) AS throughput,
      iif(runs.state = 'succeeded', ln(results.throughput), NULL) AS logarithm,
      iif(runs.state = 'succeeded', results.communication_share, NULL) AS communication_share,
      iif(runs.state = 'succeeded', results.accuracy, NULL) AS accuracy,
      iif(runs.state = 'succeeded', results.time_to_accuracy_s, NULL) AS time_to_accuracy_s,
      runs.state = 'succeeded' AND (coalesce(runs.train_target_accuracy, 0) > 0 OR results.time_to_accuracy_s IS NOT NULL) AS aims
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
      count(logarithm) OVER point AS logarithms,
      avg(logarithm) OVER point AS mean_log,
      row_number() OVER (point ORDER BY communication_share NULLS LAST) AS share_at,
      count(communication_share) OVER point AS shares,
      row_number() OVER (point ORDER BY accuracy NULLS LAST) AS accuracy_at,
      count(accuracy) OVER point AS accuracies,
      row_number() OVER (point ORDER BY NOT aims, time_to_accuracy_s NULLS LAST) AS time_at,
      sum(aims) OVER point AS target_runs
    FROM measured
    WINDOW point AS (PARTITION BY study, study_key, kind, series, nodes, ranks)
  ),
  points AS (
    SELECT
      study, study_key, kind, series, series_key, nodes, ranks, workers, throughput_at AS copy, logarithms, mean_log, target_runs,
      count(*) OVER point AS runs,
      sum(succeeded) OVER point AS succeeded,
      avg(iif(throughput_at IN ((throughputs + 1) / 2, (throughputs + 2) / 2), throughput, NULL)) OVER point AS throughput,
      min(throughput) OVER point AS throughput_min,
      max(throughput) OVER point AS throughput_max,
      iif(logarithms > 1, sum((logarithm - mean_log) * (logarithm - mean_log)) OVER point / (logarithms - 1), NULL) AS variance,
      avg(iif(share_at IN ((shares + 1) / 2, (shares + 2) / 2), communication_share, NULL)) OVER point AS communication_share,
      avg(iif(accuracy_at IN ((accuracies + 1) / 2, (accuracies + 2) / 2), accuracy, NULL)) OVER point AS accuracy,
      count(time_to_accuracy_s) OVER point AS reached,
      -- The mean of the middle one or two; a middle one that is NULL was never reached.
      iif(
        count(time_to_accuracy_s) OVER point >= (target_runs + 2) / 2,
        avg(iif(time_at IN ((target_runs + 1) / 2, (target_runs + 2) / 2), time_to_accuracy_s, NULL)) OVER point, NULL
      ) AS time_to_accuracy_s
    FROM ranked
    WINDOW point AS (PARTITION BY study, study_key, kind, series, nodes, ranks)
  ),
  lined AS (
    SELECT
      *,
      count(*) OVER line AS sizes,
      min(nodes) OVER line <> max(nodes) OVER line AND min(1.0 * workers / nodes) OVER line = max(1.0 * workers / nodes) OVER line AS by_nodes
    FROM points
    WHERE copy = 1
    WINDOW line AS (PARTITION BY study, study_key, kind, series)
  ),
  -- A step of its own: SQLite takes a WHERE into a table only where all of its windows have the same partition.
  sized AS (
    SELECT
      *,
      iif(by_nodes, nodes, workers) AS size,
      iif(by_nodes, min(nodes) OVER whole, min(workers) OVER whole) AS smallest
    FROM lined
    WINDOW whole AS (PARTITION BY study, study_key, kind)
  ),
  based AS (
    SELECT
      *,
      row_number() OVER (line ORDER BY mean_log IS NULL, size, ranks, nodes) = 1 AS is_base,
      first_value(mean_log) OVER (line ORDER BY mean_log IS NULL, size, ranks, nodes) AS base_mean_log,
      first_value(variance) OVER (line ORDER BY mean_log IS NULL, size, ranks, nodes) AS base_variance,
      first_value(logarithms) OVER (line ORDER BY mean_log IS NULL, size, ranks, nodes) AS base_logarithms,
      first_value(iif(mean_log IS NULL, NULL, size)) OVER (line ORDER BY mean_log IS NULL, size, ranks, nodes) AS base_size
    FROM sized
    WINDOW line AS (PARTITION BY study, study_key, kind, series)
  ),
  related AS (
    SELECT
      *,
      iif(
        (kind IN ('strong', 'weak') OR sizes > 1) AND NOT (is_base AND size > smallest), exp(mean_log - base_mean_log) * base_size / size, NULL
      ) AS efficiency,
      -- Squared standard errors of both means. A baseline has no interval, and fewer than three runs have none.
      iif(NOT is_base AND logarithms >= 3 AND base_logarithms >= 3, variance / logarithms, NULL) AS a,
      base_variance / base_logarithms AS a0
    FROM based
  ),
  freed AS (
    SELECT
      *,
      (a + a0) * (a + a0) / nullif(a * a / (logarithms - 1) + a0 * a0 / (base_logarithms - 1), 0) AS f
    FROM related
  ),
  reached_out AS (
    -- Student's t(0.975, f) as a polynomial in 1/f (store/analysis/scaling.hpp), times the standard error.
    SELECT *, iif(a + a0 = 0, 0.0, )sql";

// The rest of the view, after the polynomial.
constexpr std::string_view scaling_behind_interval = R"sql( * sqrt(a + a0)) AS reach
    FROM freed
  )
SELECT
  study, study_key, kind, series AS label, nodes, ranks, workers, size, runs, succeeded, throughput, throughput_min, throughput_max,
  exp(mean_log) AS throughput_geometric_mean,
  efficiency * size AS speedup,
  efficiency,
  efficiency * exp(-reach) AS efficiency_low,
  efficiency * exp(reach) AS efficiency_high,
  iif(efficiency IS NULL, NULL, base_size) AS baseline_size,
  communication_share, accuracy, time_to_accuracy_s, reached, target_runs
FROM reached_out
ORDER BY study, study_key, series_key, series, size, ranks, nodes;
)sql";

// Returns "((c3 / f + c2) / f + c1) / f + c0".
std::string polynomial_in_inverse_f()
{
  std::string text = format_shortest(student_t_975_polynomial.back());
  for (auto c = student_t_975_polynomial.rbegin() + 1; c != student_t_975_polynomial.rend(); ++c)
    text = "(" + text + " / f + " + format_shortest(*c) + ")";
  return text;
}

} // namespace

std::string scaling_view()
{
  return std::string(scaling_before_interval) + polynomial_in_inverse_f() + std::string(scaling_behind_interval);
}

} // namespace dt::store
