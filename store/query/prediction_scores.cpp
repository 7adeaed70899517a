// Stored predictions beside what was measured since.
#include "core/record/fields.hpp"
#include "core/text.hpp"
#include "store/analysis/prediction/forecast.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/prediction_query.hpp"
#include "store/query/scaling_query.hpp"

namespace dt::store {
namespace {

// A record from the current row, whose columns are those of the fields, in their order.
PredictionRecord record_of(const Statement& s)
{
  PredictionRecord record;
  for (int at = 0; const auto& field : prediction_fields()) {
    std::visit(
        [&](auto place) {
          if constexpr (std::is_invocable_v<decltype(place), PredictionRecord&> &&
                        !std::is_invocable_v<decltype(place), const PredictionRecord&>) {
            auto& value = place(record);
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, double>) value = s.real(at);
            if constexpr (std::is_integral_v<Value>) value = static_cast<Value>(s.integer(at));
            if constexpr (std::is_same_v<Value, std::string>) value = s.text(at);
          }
        },
        field.place);
    ++at;
  }
  return record;
}

std::string columns_of_predictions()
{
  std::vector<std::string> columns;
  for (const auto& field : prediction_fields()) columns.push_back(field.column());
  return join(columns, ", ");
}

void score(Connection& connection, ScoredPrediction& scored)
{
  const auto& wanted = scored.prediction;
  auto s = connection.statement(
      "SELECT DISTINCT runs.id, throughput FROM studies JOIN study_runs ON study_runs.study_id = studies.id "
      "JOIN runs ON runs.id = study_runs.run_id JOIN results ON results.run_id = runs.id "
      "WHERE studies.name = ? AND series = ? AND coalesce(sync_strategy, '') = ? AND coalesce(model_name, '') = ? AND "
      "resources_nodes = ? AND ranks = ? AND abs(" +
      std::string(samples_of_step) + " / ? - 1) < 0.1 AND NOT control AND state = 'succeeded' AND throughput > 0");
  s.bind(wanted.recipe, wanted.series, wanted.strategy, wanted.model, wanted.nodes, wanted.ranks, wanted.global_batch);
  MeasuredSize size;
  while (s.next()) size.runs.push_back({.throughput = s.real(1)});
  scored.runs = static_cast<std::int64_t>(size.runs.size());
  if (scored.runs == 0) return;
  scored.measured = throughput_of(size);
  scored.error = error_of(wanted.throughput, scored.measured);
}

} // namespace

std::vector<ScoredPrediction> scored_predictions(Database& database, const std::string& recipe)
{
  auto& connection = database.impl().connection;
  std::vector<ScoredPrediction> all;
  auto s = connection.statement(
      "SELECT " + columns_of_predictions() +
      " FROM predictions WHERE ?1 = '' OR recipe = ?1 ORDER BY recipe, series, nodes, ranks, predicted_unix_s");
  s.bind(recipe);
  while (s.next()) all.push_back({.prediction = record_of(s)});
  for (auto& scored : all) score(connection, scored);
  return all;
}

} // namespace dt::store
