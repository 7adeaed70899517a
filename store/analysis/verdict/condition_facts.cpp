#include "store/analysis/verdict/condition_facts.hpp"

#include "core/text.hpp"
#include "store/analysis/statistics/run_conditions.hpp"
#include "store/analysis/verdict/number_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::store {
namespace {

// The runs of the points that were measured, in one list.
struct MeasuredSpeeds {
  std::vector<SpeedRun> speeds;
  std::vector<bool> outlying;
  std::vector<const Run*> runs;
  std::vector<const ComparedPoint*> points;
  bool in_rounds = true;
};

MeasuredSpeeds measured_runs(std::span<const ComparedPoint> points)
{
  MeasuredSpeeds all;
  for (std::size_t point = 0; point < points.size(); ++point)
    for (const auto& run : points[point].runs) {
      if (!run.succeeded || run.is_control || run.is_exact || !(run.throughput > 0)) continue;
      all.speeds.push_back({point, run.repeat, run.begin_unix_s, run.throughput});
      all.outlying.push_back(run.is_outlying);
      all.runs.push_back(&run);
      all.points.push_back(&points[point]);
      all.in_rounds = all.in_rounds && !run.block.empty();
    }
  return all;
}

// "ring, 2 ranks #3 (-29 %)"
std::string outlier_text(const MeasuredSpeeds& all, std::size_t at)
{
  std::vector<double> others;
  for (std::size_t i = 0; i < all.runs.size(); ++i)
    if (all.points[i] == all.points[at] && !all.outlying[i]) others.push_back(all.runs[i]->throughput);
  const double ratio = all.runs[at]->throughput / std::exp(log_moments(others).mean);
  return fmt::format("{} #{} ({})", printable(title_of(*all.points[at])), all.runs[at]->repeat + 1,
                     number_text("%+.0f %%", 100 * (ratio - 1)));
}

std::string outliers_text(const MeasuredSpeeds& all)
{
  constexpr std::size_t most = 3;
  const auto count = static_cast<std::size_t>(std::count(all.outlying.begin(), all.outlying.end(), true));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.runs.size() && names.size() < most; ++i)
    if (all.outlying[i]) names.push_back(outlier_text(all, i));
  if (count > most) names.push_back(fmt::format("{} more", count - most));
  return fmt::format("{} of {} runs {} in throughput and {} not count: {}", count, all.runs.size(),
                     count == 1 ? "is an outlier" : "are outliers", count == 1 ? "does" : "do", join(names, ", "));
}

std::string trend_text(const Trend& trend, bool in_rounds)
{
  return fmt::format("the throughput changed by {} from the first run to the last (p = {:.1g}){}",
                     number_text("%+.1f %%", 100 * trend.change), trend.p,
                     in_rounds ? ", which rounds keep out of the comparison"
                               : ", and the runs were not measured in rounds, so a difference may be that change");
}

std::string speeds_text(const MeasuredSpeeds& all, const TwoSpeeds& speeds)
{
  std::string of_one;
  for (std::size_t i = 0; i < all.runs.size() && speeds.point; ++i)
    if (all.speeds[i].point == *speeds.point) {
      of_one = ", all of " + printable(title_of(*all.points[i]));
      break;
    }
  return fmt::format("{} of {} runs are {:.1f} % slower than the others of their candidate, as on a machine with two speeds{}",
                     speeds.slow, speeds.of, 100 * (1 - speeds.ratio), of_one);
}

std::string rounding_text(double unit)
{
  return "the throughputs are rounded to " + number_text("%g", unit) +
         " samples/s, which is about as much as runs of one candidate differ: print them with more digits";
}

} // namespace

std::vector<std::string> condition_facts(std::span<const ComparedPoint> points)
{
  const auto all = measured_runs(points);
  std::vector<std::string> facts;
  if (std::find(all.outlying.begin(), all.outlying.end(), true) != all.outlying.end()) facts.push_back(outliers_text(all));
  // No machine changes while simulated runs are computed. Those of a round share their seed, so a round may be faster than
  // another.
  if (std::ranges::all_of(all.runs, [](const auto* run) { return !run->platform.empty(); })) return facts;
  if (const auto unit = rounding_of(all.speeds)) facts.push_back(rounding_text(*unit));
  const auto trend = trend_of(all.speeds, all.outlying);
  if (trend) facts.push_back(trend_text(*trend, all.in_rounds));
  const auto speeds = trend ? std::nullopt : two_speeds_of(all.speeds, all.outlying);
  if (speeds) facts.push_back(speeds_text(all, *speeds));
  return facts;
}

} // namespace dt::store
