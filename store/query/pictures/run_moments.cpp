#include "store/query/pictures/run_moments.hpp"

#include "store/database/sqlite.hpp"

namespace dt::store {

std::vector<RunMoment> run_moments(Database& database, const std::string& study_id)
{
  auto s = database.impl().connection.statement(
      "SELECT runs.key, study_runs.name, series, resources_nodes, runs.ranks, control, begin_unix_s, throughput "
      "FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
      "JOIN results ON results.run_id = runs.id "
      "JOIN attempts ON attempts.run_id = runs.id AND attempts.attempt = runs.attempt "
      "WHERE studies.key = ? AND state = 'succeeded' AND throughput > 0 AND begin_unix_s > 0 ORDER BY begin_unix_s, position");
  s.bind(study_id);
  std::vector<RunMoment> moments;
  while (s.next())
    moments.push_back({s.text(0), s.text(1), s.text(2), s.integer(3), s.integer(4), s.integer(5) != 0, s.real(6), s.real(7)});
  return moments;
}

} // namespace dt::store
