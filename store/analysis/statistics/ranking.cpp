#include "store/analysis/statistics/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace dt::store {
namespace {

// The indices of the candidates, the best first, and the centre of each candidate, in the order of the candidates.
struct Order {
  std::vector<std::size_t> indices;
  std::vector<double> centres;
};

Order order_of(std::span<const Candidate> candidates, Better better, Scale scale)
{
  Order order{.indices = std::vector<std::size_t>(candidates.size()), .centres = {}};
  std::iota(order.indices.begin(), order.indices.end(), std::size_t{0});
  for (const auto& candidate : candidates) order.centres.push_back(centre_of(candidate, scale));
  const auto precedes = [&](std::size_t a, std::size_t b) {
    const double first = order.centres[a], second = order.centres[b];
    if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
    return better == Better::larger ? first > second : first < second;
  };
  std::stable_sort(order.indices.begin(), order.indices.end(), precedes);
  return order;
}

// The p value of no difference, and whether `later`, which follows `earlier` in the order, is the worse of both.
struct Test {
  double p;
  bool later_is_worse;
};

// The tests of all pairs of places in the ranking, with their adjusted p values.
class Pairs {
 public:
  Pairs(std::span<const Candidate> candidates, const Order& order, const Rule& rule, Scale scale)
      : candidates_(candidates), rule_(rule), scale_(scale)
  {
    for (const auto& candidate : candidates) moments_.push_back(plain_moments(candidate));
    std::vector<double> p;
    for (std::size_t later = 1; later < candidates.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        tests_.push_back(test(order.indices[earlier], order.indices[later]));
        p.push_back(tests_.back().p);
      }
    adjusted_ = holm_adjusted(p);
  }
  double adjusted_p(std::size_t earlier, std::size_t later) const { return adjusted_[index(earlier, later)]; }
  // Whether the candidate at `place` is significantly worse than the one at `other`.
  bool excludes(std::size_t other, std::size_t place) const
  {
    if (other == place) return false;
    const auto at = index(std::min(other, place), std::max(other, place));
    return adjusted_[at] <= 1 - rule_.level && tests_[at].later_is_worse == (place > other);
  }

 private:
  static std::size_t index(std::size_t earlier, std::size_t later) { return later * (later - 1) / 2 + earlier; }
  // Nothing if the candidate needs pairs or ranks.
  std::optional<Moments> plain_moments(const Candidate& candidate) const
  {
    const bool is_in_blocks = !candidate.blocks.empty() && scale_ != Scale::difference;
    const auto is_miss = [](double value) { return std::isinf(value); };
    if (is_in_blocks || std::any_of(candidate.values.begin(), candidate.values.end(), is_miss)) return std::nullopt;
    return scale_ == Scale::difference ? moments_of(candidate.values) : log_moments(candidate.values);
  }
  // Of two plain samples computes p alone: a study with a thousand runs may have 50,000 pairs.
  Test test(std::size_t earlier, std::size_t later) const
  {
    const auto &a = moments_[later], &b = moments_[earlier];
    if (a && b) return {two_sided_p(difference_of_means(*a, *b)), true};
    if (candidates_[later].values.empty() || candidates_[earlier].values.empty())
      return {std::numeric_limits<double>::quiet_NaN(), true};
    const auto comparison = compare_candidates(candidates_[later], candidates_[earlier], scale_, rule_);
    const bool by_ranks = comparison.method == Method::ranks;
    const bool is_larger = comparison.effect > (scale_ == Scale::difference ? 0 : 1);
    return {comparison.p, by_ranks ? comparison.verdict == Verdict::slower : is_larger == (rule_.better == Better::smaller)};
  }

  std::span<const Candidate> candidates_;
  const Rule& rule_;
  Scale scale_;
  std::vector<std::optional<Moments>> moments_;
  std::vector<Test> tests_;
  std::vector<double> adjusted_;
};

bool is_at_least_as_good(double a, double b, Better better) { return better == Better::larger ? a >= b : a <= b; }

bool has_nan(const Criteria& point) { return std::isnan(point.first) || std::isnan(point.second); }

} // namespace

std::vector<double> holm_adjusted(std::span<const double> p)
{
  std::vector<std::size_t> ascending;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) ascending.push_back(i);
  std::stable_sort(ascending.begin(), ascending.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size(), std::numeric_limits<double>::quiet_NaN());
  double largest = 0;
  for (std::size_t place = 0; place < ascending.size(); ++place) {
    largest = std::max(largest, static_cast<double>(ascending.size() - place) * p[ascending[place]]);
    adjusted[ascending[place]] = std::min(1.0, largest);
  }
  return adjusted;
}

std::vector<Ranked> ranking(std::span<const Candidate> candidates, Rule rule, Scale scale)
{
  if (scale == Scale::time_to_target) rule.better = Better::smaller;
  const auto order = order_of(candidates, rule.better, scale);
  const Pairs pairs(candidates, order, rule, scale);
  std::vector<Ranked> ranked;
  const auto at = [&](std::size_t place) -> const Candidate& { return candidates[order.indices[place]]; };
  for (std::size_t place = 0; place < candidates.size(); ++place) {
    Ranked row{.name = at(place).name, .centre = order.centres[order.indices[place]]};
    if (place > 0 && !at(place).values.empty()) row.with_best = compare_candidates(at(place), at(0), scale, rule);
    if (place > 0) row.adjusted_p = pairs.adjusted_p(0, place);
    for (std::size_t other = 0; other < candidates.size() && row.excluded_by.empty(); ++other)
      if (pairs.excludes(other, place)) row.excluded_by = at(other).name;
    ranked.push_back(std::move(row));
  }
  return ranked;
}

std::vector<std::size_t> pareto_set(std::span<const Criteria> points, Better first, Better second)
{
  const auto covers = [&](const Criteria& a, const Criteria& b) {
    return is_at_least_as_good(a.first, b.first, first) && is_at_least_as_good(a.second, b.second, second);
  };
  const auto dominates = [&](const Criteria& a, const Criteria& b) { return !has_nan(a) && covers(a, b) && !covers(b, a); };
  std::vector<std::size_t> set;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!has_nan(points[i]) && std::none_of(points.begin(), points.end(), [&](const auto& p) { return dominates(p, points[i]); }))
      set.push_back(i);
  return set;
}

} // namespace dt::store
