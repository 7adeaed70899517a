#include "store/analysis/statistics/race.hpp"

#include "store/analysis/statistics/rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

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

// How many pairs of points the race compares, at all sizes.
std::size_t count_pairs(std::span<const Group> groups)
{
  std::size_t pairs = 0;
  for (const auto& group : groups) {
    const auto points = group.points.size();
    pairs += group.are_rivals ? points * (points - 1) / 2 : points - 1;
  }
  return std::max<std::size_t>(1, pairs);
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string in_words(const Comparison& comparison)
{
  if (std::isnan(comparison.interval.low)) return fmt::format("p = {:.2g}", comparison.p);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", comparison.effect, comparison.interval.low, comparison.interval.high);
}

// The logarithms of a point's values by repeat, up to this look or the one that ended the point's race; NaN: there is none, or
// the run missed its target.
std::vector<double> logarithms(const RacePoint& point, const RaceStanding& standing)
{
  std::vector<double> logarithms;
  for (const auto& value : point.values) {
    if (static_cast<std::int64_t>(logarithms.size()) == standing.repeats) break;
    const bool is_number = value && *value > 0 && std::isfinite(*value);
    logarithms.push_back(is_number ? std::log(*value) : std::numeric_limits<double>::quiet_NaN());
  }
  return logarithms;
}

Rounds rounds_of(std::span<const RacePoint> points, std::span<const std::size_t> chosen, const Race& race)
{
  std::vector<std::vector<double>> values;
  for (const auto point : chosen) values.push_back(logarithms(points[point], race.standings[point]));
  return Rounds(std::move(values));
}

// One look at the points of a group that still race.
class Look {
 public:
  // `level`: of each comparison.
  Look(std::span<const RacePoint> points, const Group& group, const RaceRule& rule, double level, Race& race)
      : points_(points), group_(group), rule_(rule), level_(level), race_(race), rounds_(rounds_of(points, group.points, race))
  {
  }

  void judge()
  {
    drop_failed();
    group_.are_rivals ? judge_rivals() : judge_sizes();
  }

 private:
  // Places are those in the group.
  RaceStanding& standing(std::size_t place) const { return race_.standings[group_.points[place]]; }
  const RacePoint& point(std::size_t place) const { return points_[group_.points[place]]; }
  std::vector<double> values(std::size_t place) const { return values_of(point(place), race_.repeats); }

  void end(std::size_t place, std::string reason) const
  {
    if (!standing(place).is_racing) return;
    standing(place) = {.is_racing = false, .repeats = race_.repeats, .reason = std::move(reason)};
  }

  // Rivals are taken to scatter alike if they look so. Different sizes are not: what scatters is larger at the larger size.
  Interval difference(std::size_t a, std::size_t b) const
  {
    if (group_.are_rivals) return rounds_.difference(a, b, level_);
    const std::array both{group_.points[a], group_.points[b]};
    return rounds_of(points_, both, race_).difference(0, 1, level_);
  }

  Comparison compare(std::size_t a, std::size_t b) const
  {
    const Rule rule{.level = level_, .margin = rule_.margin, .better = rule_.better};
    if (has_miss(values(a)) || has_miss(values(b))) return compare_times_to_target(values(a), values(b), rule);
    Comparison comparison{.method = Method::ratio, .design = Design::paired, .rule = rule};
    const auto [low, high] = difference(a, b);
    comparison.effect = std::exp((low + high) / 2);
    comparison.interval = {std::exp(low), std::exp(high)};
    comparison.verdict = verdict_of_ratio(comparison.interval, rule.margin, rule.better);
    return comparison;
  }

  // A point without a single value at the first look has nothing to race with.
  void drop_failed() const
  {
    for (std::size_t place = 0; place < group_.points.size(); ++place)
      if (values(place).empty()) end(place, fmt::format("none of its {} runs has a value", race_.repeats));
  }

  // Drops the rivals that are worse than another one. Ends the race of the others if every pair of them is decided.
  void judge_rivals() const
  {
    std::vector<std::pair<std::size_t, std::size_t>> open;
    const auto racing = places_that_race();
    for (std::size_t i = 0; i < racing.size(); ++i)
      for (std::size_t j = i + 1; j < racing.size(); ++j) {
        const auto a = racing[i], b = racing[j];
        const auto comparison = compare(a, b);
        if (comparison.verdict == Verdict::slower) drop(a, b, comparison);
        if (comparison.verdict == Verdict::faster) drop(b, a, compare(b, a));
        if (comparison.verdict == Verdict::cannot_tell) open.emplace_back(a, b);
      }
    const auto are_left = [&](const auto& pair) { return standing(pair.first).is_racing && standing(pair.second).is_racing; };
    if (std::any_of(open.begin(), open.end(), are_left)) return;
    const auto left = places_that_race();
    for (const auto place : left) {
      end(place, victory(left.size()));
      standing(place).is_best = true;
    }
  }

  void drop(std::size_t worse, std::size_t better, const Comparison& comparison) const
  {
    const auto& other = point(better);
    end(worse, fmt::format("worse than {} at {} repeats: {}", other.title.empty() ? other.label : other.title, race_.repeats,
                           in_words(comparison)));
  }

  std::string victory(std::size_t left) const
  {
    if (left == 1) return fmt::format("the best of {} at {} repeats", group_.points.size(), race_.repeats);
    return fmt::format("one of {} that are equivalent within {} and not worse than any other, at {} repeats", left,
                       percent(rule_.margin), race_.repeats);
  }

  // Sizes without rivals: each is compared with the smallest, which races as long as another one does.
  void judge_sizes() const
  {
    for (std::size_t place = 1; place < group_.points.size(); ++place) {
      const auto interval = compare(place, 0).interval;
      const double reach = std::sqrt(interval.high / interval.low) - 1; // NaN without an interval
      if (reach <= rule_.margin)
        end(place, fmt::format("its efficiency is known within {} at {} repeats", percent(reach), race_.repeats));
    }
    const auto racing = places_that_race();
    if (racing.empty() || racing.back() == 0)
      end(0, fmt::format("nothing is compared with it any more at {} repeats", race_.repeats));
  }

  std::vector<std::size_t> places_that_race() const
  {
    std::vector<std::size_t> racing;
    for (std::size_t place = 0; place < group_.points.size(); ++place)
      if (standing(place).is_racing) racing.push_back(place);
    return racing;
  }

  static bool has_miss(std::span<const double> values)
  {
    return std::any_of(values.begin(), values.end(), [](double value) { return std::isinf(value); });
  }

  std::span<const RacePoint> points_;
  const Group& group_;
  const RaceRule& rule_;
  double level_;
  Race& race_;
  Rounds rounds_;
};

bool is_racing(const RaceStanding& standing) { return standing.is_racing; }

// The share of the error that looks may have spent when `share` of the repeats have been run.
double spent(double share) { return std::pow(share, 2.5); }

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
  const auto pairs = static_cast<double>(count_pairs(groups));
  Race race{.standings = std::vector<RaceStanding>(points.size())};
  double spent_before = 0;
  for (const auto repeats : looks(rule)) {
    race.repeats = repeats;
    for (auto& standing : race.standings)
      if (standing.is_racing) standing.repeats = repeats;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (race.standings[i].is_racing && !has_ended(points[i], repeats)) return race;
    const double spent_now = spent(static_cast<double>(repeats) / static_cast<double>(rule.most));
    const double level = 1 - (1 - rule.level) * (spent_now - spent_before) / pairs;
    for (const auto& group : groups) Look(points, group, rule, level, race).judge();
    spent_before = spent_now;
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
