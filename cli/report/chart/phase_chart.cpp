// Phases of a step by size, stacked.
#include "cli/report/chart/charts.hpp"
#include "store/query/pictures/phases.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t most_points_drawn = 24;

struct Phase {
  const char* name; // in the database
  const char* title;
};
constexpr std::array phases{Phase{"input", "input"}, Phase{"forward", "forward"}, Phase{"backward", "backward"},
                            Phase{"communication", "exposed communication"}, Phase{"optimizer", "update"}};

double time_of(const store::PointPhases& point, const char* phase)
{
  const auto found = point.phases.find(phase);
  return found == point.phases.end() ? 0 : found->second;
}

// The part of a step that is in no phase.
double rest_of(const store::PointPhases& point)
{
  double rest = time_of(point, "step");
  for (const auto& phase : phases) rest -= time_of(point, phase.name);
  return std::max(0.0, rest);
}

std::string category_of(const ChartSource& source, const store::PointPhases& point)
{
  const auto size = store::size_text(point.nodes, point.ranks);
  const auto label = source.shown.shown(point.label);
  return label.empty() ? size : label + ", " + size;
}

std::vector<store::PointPhases> drawn_phases(const ChartSource& source)
{
  auto points = store::phases_of_points(source.database, source.study.id, source.labels);
  std::erase_if(points, [&](const auto& point) { return !is_drawn(source, point.label); });
  // The order of a study may be shuffled.
  const auto place = [&](const auto& point) {
    return std::tuple(std::find(source.labels.begin(), source.labels.end(), point.label), point.nodes, point.ranks);
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return points;
}

} // namespace

Charts phase_chart(const ChartSource& source)
{
  auto points = drawn_phases(source);
  const auto all = points.size();
  if (all > most_points_drawn) points.resize(most_points_drawn);
  if (points.empty()) return {{}, "No succeeded run has recorded the phases of its steps."};
  Chart chart{.id = "phases",
              .title = "Phases of a step",
              .caption =
                  "Means over the measured steps, the workers and the repeats. Exposed communication is the time in which a "
                  "worker waits for messages and does nothing else." +
                  drawn_note(source),
              .x = {},
              .y = {.title = "time per step [ms]", .from_zero = true},
              .is_stacked = true,
              .is_horizontal = true};
  if (all > most_points_drawn) chart.caption += fmt::format(" Drawn: the first {} of {} points.", most_points_drawn, all);
  for (const auto& point : points) chart.x.categories.push_back(category_of(source, point));
  const bool all_simulated =
      std::all_of(points.begin(), points.end(), [&](const auto& point) { return is_simulated(source, point.label); });
  const auto add_series = [&](const char* title, const auto& time) {
    Series series{.name = title,
                  .mark = Mark::bar,
                  .origin = all_simulated ? Origin::simulated : Origin::measured,
                  .points = {},
                  .colour = static_cast<int>(chart.series.size())};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto origin = is_simulated(source, points[i].label) ? ", simulated" : "";
      series.points.push_back({static_cast<double>(i), time(points[i]) * 1e3, not_measured, not_measured,
                               runs_text(points[i].runs, points[i].runs) + origin});
    }
    chart.series.push_back(std::move(series));
  };
  for (const auto& phase : phases) add_series(phase.title, [&](const auto& point) { return time_of(point, phase.name); });
  add_series("other", rest_of);
  return {{std::move(chart)}, ""};
}

} // namespace dt::cli
