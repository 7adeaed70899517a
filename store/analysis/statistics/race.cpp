#include "store/analysis/statistics/race.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace dt::store {
namespace {

// Points that are compared with each other: the rivals of a size, or the sizes of a label.
struct Group {
  std::vector<std::size_t> points;
  bool are_rivals = false;
};

std::vector<Group> groups_of(std::span<const RacePoint> points)
{
  std::map<std::pair<std::int64_t, std::int64_t>, Group> by_size;
  for (std::size_t i = 0; i < points.size(); ++i) by_size[{points[i].ranks, points[i].nodes}].points.push_back(i);
  std::vector<Group> groups;
  std::map<std::string, Group> by_label;
  for (auto& [size, group] : by_size) {
    group.are_rivals = group.points.size() > 1;
    if (group.are_rivals)
      groups.push_back(group);
    else
      by_label[points[group.points[0]].label].points.push_back(group.points[0]); // ascending sizes
  }
  for (auto& [label, group] : by_label) groups.push_back(std::move(group));
  return groups;
}

// The values of the first `repeats` runs that ended with one.
std::vector<double> values_of(const RacePoint& point, std::int64_t repeats)
{
  std::vector<double> values;
  for (std::size_t i = 0; i < std::min(point.values.size(), static_cast<std::size_t>(repeats)); ++i)
    if (point.values[i] && !std::isnan(*point.values[i])) values.push_back(*point.values[i]);
  return values;
}

bool has_ended(const RacePoint& point, std::int64_t repeats)
{
  if (static_cast<std::int64_t>(point.values.size()) < repeats) return false;
  return std::all_of(point.values.begin(), point.values.begin() + repeats, [](const auto& value) { return value.has_value(); });
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string in_words(const Comparison& comparison)
{
  if (std::isnan(comparison.interval.low)) return fmt::format("p = {:.2g}", comparison.p);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", comparison.effect, comparison.interval.low, comparison.interval.high);
}

// One look at the points that still race.
class Look {
 public:
  Look(std::span<const RacePoint> points, const RaceRule& rule, std::int64_t repeats, Race& race)
      : points_(points), rule_(rule), repeats_(repeats), race_(race)
  {
  }

  void judge(const Group& group) { group.are_rivals ? judge_rivals(group) : judge_sizes(group); }

 private:
  bool races(std::size_t point) const { return race_.standings[point].is_racing; }

  void end(std::size_t point, std::string reason)
  {
    if (!races(point)) return;
    race_.standings[point] = {.is_racing = false, .repeats = repeats_, .reason = std::move(reason)};
  }

  Comparison compare(std::size_t a, std::size_t b, std::size_t pairs) const
  {
    const double level = 1 - (1 - rule_.level) / static_cast<double>(looks(rule_).size() * pairs);
    const auto own = values_of(points_[a], repeats_), other = values_of(points_[b], repeats_);
    const Rule rule{.level = level, .margin = rule_.margin, .better = rule_.better};
    return rule_.better == Better::smaller ? compare_times_to_target(own, other, rule) : compare_ratio(own, other, rule);
  }

  // A point without a single value at the first look has nothing to race with.
  void drop_failed(const Group& group)
  {
    for (const auto point : group.points)
      if (values_of(points_[point], repeats_).empty()) end(point, fmt::format("none of its {} runs has a value", repeats_));
  }

  // Drops the rivals that are worse than another one. Ends the race of the others if every pair of them is decided.
  void judge_rivals(const Group& group)
  {
    const auto pairs = group.points.size() * (group.points.size() - 1) / 2;
    drop_failed(group);
    const auto racing = racing_of(group);
    for (const auto a : racing)
      for (const auto b : racing)
        if (const auto comparison = a == b ? Comparison{} : compare(a, b, pairs); comparison.verdict == Verdict::slower)
          end(a, fmt::format("worse than {} at {} repeats: {}", points_[b].title.empty() ? points_[b].label : points_[b].title,
                             repeats_, in_words(comparison)));
    const auto left = racing_of(group);
    for (const auto a : left)
      for (const auto b : left)
        if (a < b && compare(a, b, pairs).verdict == Verdict::cannot_tell) return;
    for (const auto point : left) {
      end(point, victory(group, left.size()));
      race_.standings[point].is_best = true;
    }
  }

  std::string victory(const Group& group, std::size_t left) const
  {
    if (left == 1) return fmt::format("the best of {} at {} repeats", group.points.size(), repeats_);
    return fmt::format("one of {} that are equivalent within {} and not worse than any other, at {} repeats", left,
                       percent(rule_.margin), repeats_);
  }

  // Sizes without rivals: each is compared with the smallest, which races as long as another one does.
  void judge_sizes(const Group& group)
  {
    drop_failed(group);
    const auto base = group.points.front();
    const auto pairs = std::max<std::size_t>(1, group.points.size() - 1);
    for (const auto point : group.points) {
      if (point == base) continue;
      const auto interval = compare(point, base, pairs).interval;
      const double reach = std::sqrt(interval.high / interval.low) - 1; // NaN without an interval
      if (reach <= rule_.margin)
        end(point, fmt::format("its efficiency is known within {} at {} repeats", percent(reach), repeats_));
    }
    const bool is_needed = std::any_of(group.points.begin() + 1, group.points.end(), [&](auto point) { return races(point); });
    if (!is_needed) end(base, fmt::format("nothing is compared with it any more at {} repeats", repeats_));
  }

  std::vector<std::size_t> racing_of(const Group& group) const
  {
    std::vector<std::size_t> racing;
    std::copy_if(group.points.begin(), group.points.end(), std::back_inserter(racing), [&](auto point) { return races(point); });
    return racing;
  }

  std::span<const RacePoint> points_;
  const RaceRule& rule_;
  std::int64_t repeats_;
  Race& race_;
};

bool is_racing(const RaceStanding& standing) { return standing.is_racing; }

} // namespace

std::vector<std::int64_t> looks(const RaceRule& rule)
{
  std::vector<std::int64_t> looks{std::min(rule.first, rule.most)};
  while (looks.back() < rule.most) looks.push_back(std::min(rule.most, (looks.back() * 7 + 4) / 5));
  return looks;
}

Race race_of(std::span<const RacePoint> points, const RaceRule& rule)
{
  const auto groups = groups_of(points);
  Race race{.standings = std::vector<RaceStanding>(points.size())};
  for (const auto repeats : looks(rule)) {
    race.repeats = repeats;
    for (auto& standing : race.standings)
      if (standing.is_racing) standing.repeats = repeats;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (race.standings[i].is_racing && !has_ended(points[i], repeats)) return race;
    Look look(points, rule, repeats, race);
    for (const auto& group : groups) look.judge(group);
    if (std::none_of(race.standings.begin(), race.standings.end(), is_racing)) break;
  }
  race.is_over = true;
  for (auto& standing : race.standings)
    if (standing.is_racing) {
      standing.reason = fmt::format("not decided after {} repeats, the most that are allowed", race.repeats);
      standing.is_open = true;
    }
  for (auto& standing : race.standings) standing.is_racing = false;
  return race;
}

} // namespace dt::store
