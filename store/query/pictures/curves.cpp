#include "store/query/pictures/curves.hpp"

#include "store/database/sqlite.hpp"
#include "store/query/course.hpp"
#include "store/query/scaling_query.hpp"

#include <algorithm>
#include <optional>

namespace dt::store {
namespace {

constexpr std::int64_t most_steps_of_a_range = 100;

struct RunId {
  std::int64_t id = 0;
  double step_samples = not_measured; // of all workers
};

std::optional<RunId> find_run(Connection& connection, const std::string& key)
{
  auto s = connection.statement("SELECT id, " + std::string(samples_of_step) +
                                " FROM runs LEFT JOIN results ON results.run_id = runs.id WHERE key = ?");
  s.bind(key);
  return s.next() ? std::optional(RunId{s.integer(0), s.real(1)}) : std::nullopt;
}

std::vector<CurvePoint> loss_of(Connection& connection, const RunId& run, const std::vector<CoursePart>& parts,
                                std::int64_t most_points)
{
  std::int64_t steps = 0;
  for (const auto& part : parts) steps += part.last_step - part.first_step + 1;
  const auto range = std::max<std::int64_t>(1, (steps + most_points - 1) / most_points);
  std::vector<CurvePoint> points;
  auto s = connection.statement("SELECT avg(step), avg(elapsed_s), avg(loss) FROM (SELECT step, elapsed_s, loss FROM steps "
                                "WHERE run_id = ? AND attempt = ? AND step BETWEEN ? AND ? AND abs(loss) < 9e999 "
                                "ORDER BY step LIMIT ?)");
  for (const auto& part : parts)
    for (auto first = part.first_step; first <= part.last_step; first += range) {
      s.bind(run.id, part.attempt, first, std::min(part.last_step, first + range - 1), most_steps_of_a_range);
      if (s.next() && !s.is_null(0)) points.push_back({s.real(0) * run.step_samples, s.real(1), s.real(2)});
      s.finish();
    }
  return points;
}

// `column`: of the evaluations.
std::vector<CurvePoint> evaluated(Connection& connection, const RunId& run, const std::vector<CoursePart>& parts,
                                  const std::string& column)
{
  std::vector<CurvePoint> points;
  auto s = connection.statement("SELECT step, elapsed_s, " + column +
                                " FROM evals WHERE run_id = ? AND attempt = ? AND step BETWEEN ? AND ? AND " + column +
                                " IS NOT NULL ORDER BY step");
  for (const auto& part : parts) {
    s.bind(run.id, part.attempt, part.first_step, part.last_step);
    while (s.next()) points.push_back({static_cast<double>(s.integer(0)) * run.step_samples, s.real(1), s.real(2)});
  }
  return points;
}

// Every k-th point and the last one, so that at most about `most` are left.
void thin(std::vector<CurvePoint>& points, std::int64_t most)
{
  const auto each = (points.size() + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  if (each <= 1) return;
  std::vector<CurvePoint> kept;
  for (std::size_t i = 0; i + 1 < points.size(); i += each) kept.push_back(points[i]);
  kept.push_back(points.back());
  points = std::move(kept);
}

} // namespace

std::vector<RunCurves> curves_of(Database& database, const std::vector<std::string>& keys, std::int64_t most_points)
{
  auto& connection = database.impl().connection;
  std::vector<RunCurves> all;
  for (const auto& key : keys) {
    const auto run = find_run(connection, key);
    if (!run) continue;
    const auto parts = parts_of_run(database, key);
    RunCurves curves{key, loss_of(connection, *run, parts, most_points), evaluated(connection, *run, parts, "accuracy"),
                     evaluated(connection, *run, parts, "noise_scale")};
    thin(curves.accuracy, most_points);
    thin(curves.noise_scale, most_points);
    if (!curves.loss.empty() || !curves.accuracy.empty()) all.push_back(std::move(curves));
  }
  return all;
}

} // namespace dt::store
