#include "store/query/scaling_query.hpp"

#include "core/record/run_record.hpp"
#include "core/spec/point_label.hpp"
#include "store/analysis/statistics/run_conditions.hpp"
#include "store/query/key_list.hpp"
#include "store/query/queries.hpp"

#include <map>
#include <tuple>

namespace dt::store {

std::string measured_run_columns()
{
  return "series, resources_nodes, ranks, workers, state = 'succeeded' AS has_succeeded, "
         // Without a time, 0 samples say that the target was missed, and NULL that nobody knows.
         "iif(time_to_accuracy_s IS NULL AND samples_to_accuracy IS NOT 0, 0, coalesce(train_target_accuracy, 0)) AS "
         "target_accuracy, "
         "throughput, "
         "communication_share, accuracy, time_to_accuracy_s, (SELECT " +
         std::string(ladder_block) +
         " FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = runs.attempt) AS block, "
         "diverged_step IS NOT NULL AS has_diverged, repeat, "
         "(SELECT begin_unix_s FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = runs.attempt) "
         "AS begin_unix_s, coalesce(resources_platform, '') <> '' AND coalesce(train_compute_profile, '') = '' "
         "AND coalesce(train_modelled_step_spread, 0) = 0 AND coalesce(train_modelled_node_spread, 0) = 0 AS is_exact, "
         "coalesce(json_extract(nullif(caveats, ''), '$.copies'), '') AS copies, resources_platform, energy_joules_per_sample, "
         "mfu";
}

std::string measured_run_tables()
{
  return " FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
         "LEFT JOIN results ON results.run_id = runs.id "
         "WHERE studies.key = ?1 AND ranks IS NOT NULL AND NOT control AND " +
         std::string(of_these_labels) + " ORDER BY position";
}

MeasuredRun measured_run_of(Statement& row)
{
  return {.series = row.text("series"),
          .nodes = row.integer("resources_nodes"),
          .ranks = row.integer("ranks"),
          .workers = row.integer("workers"),
          .succeeded = row.integer("has_succeeded") != 0,
          .has_diverged = row.integer("has_diverged") != 0,
          .repeat = row.integer("repeat"),
          .begin_unix_s = row.real("begin_unix_s"),
          .block = row.text("block"),
          .is_exact = row.integer("is_exact") != 0,
          .platform = row.text("resources_platform"),
          .copies = row.text("copies"),
          .target_accuracy = row.real("target_accuracy"),
          .throughput = row.real("throughput"),
          .communication_share = row.real("communication_share"),
          .accuracy = row.real("accuracy"),
          .time_to_accuracy_s = row.real("time_to_accuracy_s"),
          .joules_per_sample = row.real("energy_joules_per_sample"),
          .mfu = row.real("mfu")};
}

std::string kind_of_study(Connection& connection, const std::string& study_key)
{
  auto kind = connection.statement("SELECT kind FROM studies WHERE key = ?");
  kind.bind(study_key);
  return kind.next() ? kind.text(0) : "";
}

StudySizes sizes_of_study(Connection& connection, const std::string& study_key)
{
  return sizes_of_kind(kind_of_study(connection, study_key));
}

std::map<std::string, BatchRule> batch_rules_of_study(Database& database, const std::string& study_key)
{
  auto& connection = database.impl().connection;
  std::map<std::string, std::vector<StepSamples>> samples;
  auto s = connection.statement("SELECT series, workers, avg(" + std::string(samples_of_step) +
                                ") AS samples FROM studies JOIN study_runs ON study_runs.study_id = studies.id "
                                "JOIN runs ON runs.id = study_runs.run_id JOIN results ON results.run_id = runs.id "
                                "WHERE studies.key = ? AND NOT control AND state = 'succeeded' GROUP BY series, workers");
  s.bind(study_key);
  while (s.next()) samples[s.text("series")].push_back({s.real("workers"), s.real("samples")});
  const auto kind = kind_of_study(connection, study_key);
  std::map<std::string, BatchRule> rules;
  for (const auto& [series, sizes] : samples) rules.emplace(series, batch_rule(kind, sizes));
  return rules;
}

std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key)
{
  std::vector<MeasuredRun> runs;
  auto s = connection.statement("SELECT " + measured_run_columns() + measured_run_tables());
  s.bind(study_key);
  while (s.next()) runs.push_back(measured_run_of(s));
  std::vector<MeasuredRun*> all;
  for (auto& run : runs) all.push_back(&run);
  judge_conditions<MeasuredRun>(all, "");
  return scaling_of(runs, sizes_of_study(connection, study_key));
}

std::vector<ScalingRow> scaling_of_runs(const std::vector<RunRow>& rows, std::span<const ComparedRun> figures,
                                        std::string_view kind)
{
  std::vector<MeasuredRun> runs;
  runs.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& run = figures[i];
    if (run.is_control || run.ranks == 0) continue; // a run without ranks is known only by its key
    runs.push_back({.series = run.series,
                    .nodes = run.nodes,
                    .ranks = run.ranks,
                    .workers = rows[i].workers,
                    .succeeded = run.succeeded,
                    .has_diverged = run.has_diverged,
                    .repeat = run.repeat,
                    .begin_unix_s = run.begin_unix_s,
                    .block = run.block,
                    .is_outlying = run.is_outlying,
                    .is_exact = run.is_exact,
                    .platform = run.platform,
                    .copies = run.copies,
                    .target_accuracy = run.knows_target && run.target_accuracy > 0 ? run.target_accuracy : 0,
                    .throughput = run.throughput,
                    .communication_share = rows[i].figure("communication_share"),
                    .accuracy = run.accuracy,
                    .time_to_accuracy_s = run.time_to_accuracy_s,
                    .joules_per_sample = run.joules_per_sample,
                    .mfu = run.mfu});
  }
  return scaling_of(runs, sizes_of_kind(kind));
}

std::vector<ScalingRow> varied_of_runs(const std::vector<RunRow>& rows, std::vector<ComparedRun> figures, std::string_view kind)
{
  for (auto& run : figures) run.is_control = !varied_figure(run.series);
  return scaling_of_runs(rows, figures, kind);
}

std::vector<VariedFigure> varied_without_result(const std::vector<ComparedRun>& figures)
{
  std::vector<VariedFigure> varied;
  for (const auto& run : figures)
    if (auto figure = varied_figure(run.series); figure && !run.succeeded) varied.push_back(std::move(*figure));
  return varied;
}

std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id)
{
  return scaling_of_study(database.impl().connection, study_id);
}

} // namespace dt::store
