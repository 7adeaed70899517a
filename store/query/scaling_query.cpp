#include "store/query/scaling_query.hpp"

#include "core/spec/point_label.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/queries.hpp"

#include <map>

namespace dt::store {

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
  return scaling_of(figures_of(runs_of_study(connection, study_key)), sizes_of_study(connection, study_key));
}

std::vector<ScalingRow> varied_of_runs(std::vector<Run> runs, std::string_view kind)
{
  for (auto& run : runs) run.is_control = !varied_figure(run.series);
  return scaling_of(runs, sizes_of_kind(kind));
}

std::vector<VariedFigure> varied_without_result(const std::vector<Run>& figures)
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
