#include "store/query/pictures/phases.hpp"

#include "store/database/sqlite.hpp"
#include "store/query/key_list.hpp"

#include <tuple>

namespace dt::store {

std::vector<PointPhases> phases_of_points(Database& database, const std::string& study_id, const std::vector<std::string>& labels)
{
  auto s = database.impl().connection.statement(
      "SELECT series, resources_nodes, runs.ranks, phase, avg(mean_s) AS mean_s, count(DISTINCT runs.id) AS runs "
      "FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
      "JOIN rank_phases ON rank_phases.run_id = runs.id JOIN ranks ON ranks.run_id = runs.id AND ranks.rank = rank_phases.rank "
      "WHERE studies.key = ?1 AND NOT control AND state = 'succeeded' AND role = 'worker' AND phase <> 'evaluation' AND " +
      std::string(of_these_labels) +
      " GROUP BY series, resources_nodes, runs.ranks, phase ORDER BY series, resources_nodes, runs.ranks");
  s.bind(study_id, label_list(labels));
  std::vector<PointPhases> points;
  const auto place = [](const PointPhases& point) { return std::tie(point.label, point.nodes, point.ranks); };
  while (s.next()) {
    const PointPhases point{s.text("series"), s.integer("resources_nodes"), s.integer("ranks"), s.integer("runs"), {}};
    if (points.empty() || place(points.back()) != place(point)) points.push_back(point);
    points.back().phases[s.text("phase")] = s.real("mean_s");
  }
  return points;
}

std::vector<RankPhases> phases_of_ranks(Database& database, const std::string& key)
{
  auto s = database.impl().connection.statement(
      "SELECT ranks.rank, role, host, phase, mean_s FROM runs JOIN ranks ON ranks.run_id = runs.id "
      "JOIN rank_phases ON rank_phases.run_id = runs.id AND rank_phases.rank = ranks.rank "
      "WHERE key = ? AND phase <> 'evaluation' ORDER BY ranks.rank");
  s.bind(key);
  std::vector<RankPhases> ranks;
  while (s.next()) {
    if (ranks.empty() || ranks.back().rank != s.integer("rank"))
      ranks.push_back({s.integer("rank"), s.text("role"), s.text("host"), {}});
    ranks.back().phases[s.text("phase")] = s.real("mean_s");
  }
  return ranks;
}

} // namespace dt::store
