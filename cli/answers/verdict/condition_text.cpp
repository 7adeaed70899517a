#include "cli/answers/verdict/verdict_text.hpp"

#include "cli/output/number_text.hpp"
#include "core/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// "1 of 12 runs is an outlier in throughput and does not count: ring, 2 ranks #3 (-29 %)"
std::string outliers_text(const std::vector<store::OutlyingRun>& outliers, std::size_t of_runs)
{
  constexpr std::size_t most = 3;
  const auto count = outliers.size();
  std::vector<std::string> names;
  for (const auto& [point, repeat, ratio] : std::span(outliers).first(std::min(count, most)))
    names.push_back(
        fmt::format("{} #{} ({})", printable(title_of(*point)), repeat + 1, number_text("%+.0f %%", 100 * (ratio - 1))));
  if (count > most) names.push_back(fmt::format("{} more", count - most));
  return fmt::format("{} of {} runs {} in throughput and {} not count: {}", count, of_runs,
                     count == 1 ? "is an outlier" : "are outliers", count == 1 ? "does" : "do", join(names, ", "));
}

std::string trend_text(const store::Trend& trend, bool in_rounds)
{
  return fmt::format("the throughput changed by {} from the first run to the last (p = {:.1g}){}",
                     number_text("%+.1f %%", 100 * trend.change), trend.p,
                     in_rounds ? ", which rounds keep out of the comparison"
                               : ", and the runs were not measured in rounds, so a difference may be that change");
}

std::string speeds_text(const store::TwoSpeeds& speeds, std::span<const store::ComparedPoint> points)
{
  return fmt::format("{} of {} runs are {:.1f} % slower than the others of their candidate, as on a machine with two speeds{}",
                     speeds.slow, speeds.of, 100 * (1 - speeds.ratio),
                     speeds.point ? ", all of " + printable(title_of(points[*speeds.point])) : "");
}

std::string rounding_text(double unit)
{
  return "the throughputs are rounded to " + number_text("%g", unit) +
         " samples/s, which is about as much as runs of one candidate differ: print them with more digits";
}

} // namespace

std::vector<std::string> condition_texts(const store::ConditionFacts& facts, std::span<const store::ComparedPoint> points)
{
  std::vector<std::string> texts;
  if (!facts.outliers.empty()) texts.push_back(outliers_text(facts.outliers, facts.runs));
  if (facts.rounding_unit) texts.push_back(rounding_text(*facts.rounding_unit));
  if (facts.trend) texts.push_back(trend_text(*facts.trend, facts.in_rounds));
  if (facts.speeds) texts.push_back(speeds_text(*facts.speeds, points));
  return texts;
}

} // namespace dt::cli
