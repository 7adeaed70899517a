#include "store/query/scaling_query.hpp"

#include "core/record/run_record.hpp"
#include "store/query/key_list.hpp"
#include "store/query/queries.hpp"

namespace dt::store {

std::string measured_run_columns()
{
  return "series, resources_nodes, ranks, workers, state = 'succeeded', "
         // Without a time, 0 samples say that the target was missed, and NULL that nobody knows.
         "iif(time_to_accuracy_s IS NULL AND samples_to_accuracy IS NOT 0, 0, coalesce(train_target_accuracy, 0)), throughput, "
         "communication_share, accuracy, time_to_accuracy_s, (SELECT " +
         std::string(ladder_block) +
         " FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = runs.attempt), "
         "diverged_step IS NOT NULL";
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
  return {.series = row.text(0),
          .nodes = row.integer(1),
          .ranks = row.integer(2),
          .workers = row.integer(3),
          .succeeded = row.integer(4) != 0,
          .has_diverged = row.integer(11) != 0,
          .block = row.text(10),
          .target_accuracy = row.real(5),
          .throughput = row.real(6),
          .communication_share = row.real(7),
          .accuracy = row.real(8),
          .time_to_accuracy_s = row.real(9)};
}

StudySizes sizes_of_study(Connection& connection, const std::string& study_key)
{
  auto kind = connection.statement("SELECT kind FROM studies WHERE key = ?");
  kind.bind(study_key);
  return sizes_of_kind(kind.next() ? kind.text(0) : "");
}

std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key)
{
  std::vector<MeasuredRun> runs;
  auto s = connection.statement("SELECT " + measured_run_columns() + measured_run_tables());
  s.bind(study_key);
  while (s.next()) runs.push_back(measured_run_of(s));
  return scaling_of(runs, sizes_of_study(connection, study_key));
}

std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id)
{
  return scaling_of_study(database.impl().connection, study_id);
}

} // namespace dt::store
