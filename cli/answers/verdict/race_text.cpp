#include "cli/answers/verdict/verdict_text.hpp"

#include "cli/output/number_text.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace dt::cli {
namespace {

using store::RacePoint;

std::string after_repeats(std::int64_t repeats) { return " after " + std::to_string(repeats) + " repeats"; }

std::vector<std::string> shown_names(std::span<const RacePoint> points, const std::vector<std::size_t>& places)
{
  std::vector<std::string> names;
  for (const auto place : places) names.push_back(points[place].title.empty() ? points[place].label : points[place].title);
  return names;
}

std::string why_open(const store::Race& race, const std::string& limit)
{
  if (race.is_over) return after_repeats(race.repeats) + ", the most that are allowed";
  return limit.empty() ? ", so far: the same sweep --until-decided goes on" : ", because of " + limit;
}

// `of_all`: " of 3 by throughput at 2 ranks".
std::string race_text(const store::RaceOutcome& outcome, std::span<const RacePoint> points, double margin,
                      const std::string& of_all, const std::string& why_open)
{
  const auto best = shown_names(points, outcome.best), open = shown_names(points, outcome.open);
  if (!open.empty())
    return "Undecided between " + std::to_string(open.size()) + of_all + why_open +
           (open.size() < outcome.rivals ? ": " + join(open, ", ") : "");
  const auto after = after_repeats(outcome.repeats);
  if (best.empty()) return "No candidate" + of_all + " has a value" + after;
  if (best.size() == 1) return best.front() + " is the best" + of_all + after;
  return join(best, ", ") + " are the best" + of_all + " and equivalent within " + number_text("%.3g %%", 100 * margin) + after;
}

} // namespace

VerdictText race_verdict(std::span<const RacePoint> points, const store::Race& race, const store::RaceRule& rule,
                         const std::string& limit, std::span<const std::string> facts)
{
  const bool has_sizes = std::ranges::any_of(
      points, [&](const auto& point) { return point.ranks != points.front().ranks || point.nodes != points.front().nodes; });
  const std::string by = rule.better == store::Better::larger ? " by throughput" : " by time to target";
  VerdictText text{.headline = "", .remarks = {facts.begin(), facts.end()}};
  for (const auto& outcome : store::race_outcomes(points, race)) {
    const auto of_all =
        " of " + std::to_string(outcome.rivals) + by + (has_sizes ? " at " + store::size_text(outcome.nodes, outcome.ranks) : "");
    auto line = race_text(outcome, points, rule.margin, of_all, why_open(race, limit));
    if (text.headline.empty())
      text.headline = std::move(line);
    else
      text.lines.push_back(std::move(line));
  }
  return text.headline.empty() ? VerdictText() : text;
}

} // namespace dt::cli
