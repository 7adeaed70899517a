#include "store/query/pictures/provenance.hpp"

#include "store/database/sqlite.hpp"

namespace dt::store {
namespace {

constexpr const char* facts = R"sql(
WITH asked AS (
  SELECT runs.id AS run_id, engine_build, data_id, attempt FROM studies JOIN study_runs ON study_runs.study_id = studies.id
  JOIN runs ON runs.id = study_runs.run_id WHERE studies.key = ?)
SELECT name, value, count(*) AS times FROM (
  SELECT name, value FROM asked JOIN environment USING (run_id)
  UNION ALL SELECT 'engine_build', engine_build FROM asked
  UNION ALL SELECT 'data_id', data_id FROM asked
  UNION ALL SELECT 'scheduler', scheduler FROM asked JOIN attempts USING (run_id, attempt)
  UNION ALL SELECT 'host of rank 0', host FROM asked JOIN attempts USING (run_id, attempt))
WHERE value <> '' AND name NOT IN ('slurm_job_id', 'slurm_array_job_id', 'slurm_array_task', 'slurm_restart_count') GROUP BY name, value ORDER BY name, times DESC, value)sql";

} // namespace

std::vector<Fact> provenance_of(Database& database, const std::string& study_id)
{
  auto s = database.impl().connection.statement(facts);
  s.bind(study_id);
  std::vector<Fact> found;
  while (s.next()) found.push_back({s.text(0), s.text(1), s.integer(2)});
  return found;
}

} // namespace dt::store
