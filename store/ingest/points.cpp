// Writes the table `points`, which the view `scaling` shows.
#include "store/ingest/rows.hpp"
#include "store/query/scaling_query.hpp"

namespace dt::store {
namespace {

struct StaleStudy {
  std::int64_t id;
  std::string key;
};

std::vector<StaleStudy> stale_studies(Connection& connection)
{
  std::vector<StaleStudy> studies;
  auto s = connection.statement("SELECT id, key FROM studies WHERE points_current IS NOT 1");
  while (s.next()) studies.push_back({s.integer(0), s.text(1)});
  return studies;
}

} // namespace

bool has_stale_points(Connection& connection) { return !stale_studies(connection).empty(); }

void write_points(Connection& connection)
{
  for (const auto& study : stale_studies(connection)) {
    connection.statement("DELETE FROM points WHERE study_id = ?").run(study.id);
    for (std::int64_t position = 0; const auto& point : scaling_of_study(connection, study.key))
      write_point(connection, study.id, position++, point);
    connection.statement("UPDATE studies SET points_current = 1 WHERE id = ?").run(study.id);
  }
}

} // namespace dt::store
