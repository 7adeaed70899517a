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

// With more tested candidates than this, not all pairs are tested: 500 candidates have 125,000 pairs, 20,000 have 200 million.
constexpr std::size_t most_in_all_pairs = 500;
// Then each candidate is tested against so many of the first in the ranking.
constexpr std::size_t most_excluders = 20;

// The tests of pairs of places in the ranking, with their adjusted p values. Only places that can be tested take part.
class Pairs {
 public:
  Pairs(std::span<const Candidate> candidates, const Order& order, const Rule& rule, Scale scale)
      : candidates_(candidates), order_(order), rule_(rule), scale_(scale), number_of_(candidates.size(), untested)
  {
    for (const auto& candidate : candidates) moments_.push_back(plain_moments(candidate));
    choose_tested();
    if (tests_all()) test_all();
  }
  // NaN if the pair was not tested.
  double adjusted_p(std::size_t earlier, std::size_t later) const
  {
    const auto a = number_of_[earlier], b = number_of_[later];
    if (a == untested || b == untested) return std::numeric_limits<double>::quiet_NaN();
    return tests_all() ? adjusted_[index(a, b)] : bonferroni(test(order_.indices[earlier], order_.indices[later]).p);
  }
  // The first place whose candidate is significantly better than the one at `place`.
  std::optional<std::size_t> excluder_of(std::size_t place) const
  {
    if (number_of_[place] == untested) return std::nullopt;
    const auto most = tests_all() ? tested_.size() : std::min(tested_.size(), most_excluders);
    for (std::size_t i = 0; i < most; ++i)
      if (tested_[i] != place && excludes(tested_[i], place)) return tested_[i];
    return std::nullopt;
  }

 private:
  static constexpr auto untested = static_cast<std::size_t>(-1);

  static std::size_t index(std::size_t earlier, std::size_t later) { return later * (later - 1) / 2 + earlier; }
  bool tests_all() const { return tested_.size() <= most_in_all_pairs; }
  // Nothing if the candidate needs pairs or ranks.
  std::optional<Moments> plain_moments(const Candidate& candidate) const
  {
    const bool is_in_blocks = !candidate.blocks.empty() && scale_ != Scale::difference;
    const auto is_miss = [](double value) { return std::isinf(value); };
    if (is_in_blocks || std::any_of(candidate.values.begin(), candidate.values.end(), is_miss)) return std::nullopt;
    return scale_ == Scale::difference ? moments_of(candidate.values) : log_moments(candidate.values);
  }
  // A plain sample with fewer than `least_runs` values has a p value only against one that needs ranks.
  void choose_tested()
  {
    const bool all_plain = std::all_of(moments_.begin(), moments_.end(), [](const auto& moments) { return moments.has_value(); });
    for (std::size_t place = 0; place < order_.indices.size(); ++place) {
      const auto i = order_.indices[place];
      if (all_plain ? moments_[i]->count < least_runs : candidates_[i].values.empty()) continue;
      number_of_[place] = tested_.size();
      tested_.push_back(place);
    }
  }
  void test_all()
  {
    std::vector<double> p;
    for (std::size_t later = 1; later < tested_.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        tests_.push_back(test(order_.indices[tested_[earlier]], order_.indices[tested_[later]]));
        p.push_back(tests_.back().p);
      }
    adjusted_ = holm_adjusted(p);
  }
  // Of one of all pairs, without knowing the p values of the others.
  double bonferroni(double p) const
  {
    const auto count = static_cast<double>(tested_.size());
    return std::isnan(p) ? p : std::min(1.0, p * count * (count - 1) / 2);
  }
  bool excludes(std::size_t other, std::size_t place) const
  {
    const auto earlier = std::min(other, place), later = std::max(other, place);
    if (!(adjusted_p(earlier, later) <= 1 - rule_.level)) return false;
    const auto one = tests_all() ? tests_[index(number_of_[earlier], number_of_[later])]
                                 : test(order_.indices[earlier], order_.indices[later]);
    return one.later_is_worse == (place > other);
  }
  // Of two plain samples computes p alone: 500 candidates have 125,000 pairs.
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
  const Order& order_;
  const Rule& rule_;
  Scale scale_;
  std::vector<std::optional<Moments>> moments_; // by candidate
  std::vector<std::size_t> number_of_;          // by place: its index in tested_
  std::vector<std::size_t> tested_;             // places, ascending
  std::vector<Test> tests_;                     // of all pairs of tested_, if tests_all
  std::vector<double> adjusted_;
};

bool is_better(double a, double b, Better better) { return better == Better::larger ? a > b : a < b; }

bool is_same(const Criteria& a, const Criteria& b) { return a.first == b.first && a.second == b.second; }

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
    Ranked row{.name = at(place).name, .candidate = order.indices[place], .centre = order.centres[order.indices[place]]};
    if (place > 0 && !at(place).values.empty()) row.with_best = compare_candidates(at(place), at(0), scale, rule);
    if (place > 0) row.adjusted_p = pairs.adjusted_p(0, place);
    row.excluder = pairs.excluder_of(place);
    if (row.excluder) row.excluded_by = at(*row.excluder).name;
    ranked.push_back(std::move(row));
  }
  return ranked;
}

std::vector<std::size_t> pareto_set(std::span<const Criteria> points, Better first, Better second)
{
  std::vector<std::size_t> order, set;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!has_nan(points[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    if (points[a].first != points[b].first) return is_better(points[a].first, points[b].first, first);
    return is_better(points[a].second, points[b].second, second);
  });
  // By the first criterion, the best first: a point is in the set if it improves the second, or equals the last that did.
  for (const auto i : order)
    if (set.empty() || is_better(points[i].second, points[set.back()].second, second) || is_same(points[i], points[set.back()]))
      set.push_back(i);
  std::sort(set.begin(), set.end());
  return set;
}

} // namespace dt::store
