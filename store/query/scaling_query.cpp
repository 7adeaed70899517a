#include "store/query/scaling_query.hpp"

#include "core/record/run_record.hpp"
#include "store/query/queries.hpp"

namespace dt::store {
namespace {

// A run without `ranks` is known only by its key: its folder was not read yet.
constexpr const char* runs_of_points =
    "SELECT series, resources_nodes, ranks, workers, state = 'succeeded', coalesce(train_target_accuracy, 0), throughput, "
    "communication_share, accuracy, time_to_accuracy_s "
    "FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
    "LEFT JOIN results ON results.run_id = runs.id "
    "WHERE studies.key = ? AND ranks IS NOT NULL AND NOT control ORDER BY position";

bool is_scaling_study(Connection& connection, const std::string& study_key)
{
  auto kind = connection.statement("SELECT kind IN ('strong', 'weak') FROM studies WHERE key = ?");
  kind.bind(study_key);
  return kind.next() && kind.integer(0) != 0;
}

} // namespace

std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key)
{
  std::vector<MeasuredRun> runs;
  auto s = connection.statement(runs_of_points);
  s.bind(study_key);
  while (s.next())
    runs.push_back({.series = s.text(0),
                    .nodes = s.integer(1),
                    .ranks = s.integer(2),
                    .workers = s.integer(3),
                    .succeeded = s.integer(4) != 0,
                    .target_accuracy = s.real(5),
                    .throughput = s.real(6),
                    .communication_share = s.real(7),
                    .accuracy = s.real(8),
                    .time_to_accuracy_s = s.real(9)});
  return scaling_of(runs, is_scaling_study(connection, study_key));
}

std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id)
{
  return scaling_of_study(database.impl().connection, study_id);
}

} // namespace dt::store
