#include "store/analysis/statistics/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
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

// With more tested candidates than this, not all pairs are tested: 500 candidates have 125,000 pairs, 20,000 have 200 million.
constexpr std::size_t most_in_all_pairs = 500;
// Then each candidate is tested against so many of the first in the ranking.
constexpr std::size_t most_excluders = 20;

// A pair of places in a ranking, of which `earlier` is the smaller one, with adjusted p values.
struct AdjustedPair {
  PairP test; // of the later place (A) with the earlier one (B)
  bool is_behind(bool of_later, double level) const
  {
    if (test.is_exact) return !test.is_equivalent && test.a_is_better != of_later;
    return test.p.difference <= 1 - level && test.a_is_better != of_later && !is_equivalent(level);
  }
  bool is_equivalent(double level) const { return test.is_exact ? test.is_equivalent : test.p.beyond_margin <= 1 - level; }
};

// One contest: its ranking, and the tests of pairs of places. Only places that can be tested take part.
class RankedContest {
 public:
  explicit RankedContest(const Contestants& contest)
      : candidates_(contest.candidates), rule_(contest.rule), scale_(contest.scale), set_(candidates_, scale_)
  {
    if (scale_ == Scale::time_to_target) rule_.better = Better::smaller;
    order_ = order_of(candidates_, rule_.better, scale_);
    number_of_.assign(candidates_.size(), untested);
    choose_tested();
  }
  bool is_large() const { return tested_.size() > most_in_all_pairs; }
  const SizeScatter& scatter() const { return set_.scatter(); }
  void judge_with(std::span<const SizeScatter> sizes) { set_.judge_with(sizes); }
  double number_of_pairs() const
  {
    const auto count = static_cast<double>(tested_.size());
    return count * (count - 1) / 2;
  }
  // Appends the p values of all pairs; take_adjusted takes as many from there.
  void append_tests(std::vector<PairOfP>& all)
  {
    for (std::size_t later = 1; later < tested_.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        pairs_.push_back({tested(tested_[earlier], tested_[later])});
        all.push_back(pairs_.back().test.p);
      }
  }
  std::span<const PairOfP> take_adjusted(std::span<const PairOfP> adjusted)
  {
    for (std::size_t i = 0; i < pairs_.size(); ++i) pairs_[i].test.p = adjusted[i];
    return adjusted.subspan(pairs_.size());
  }
  // Of a contest without append_tests: p values are multiplied by this number.
  void multiply_by(double pairs) { factor_ = pairs; }

  std::vector<Ranked> ranked() const
  {
    std::vector<Ranked> rows;
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
      Ranked row{.name = at(place).name, .candidate = order_.indices[place], .centre = order_.centres[order_.indices[place]]};
      if (place > 0 && !at(place).values.empty()) row.with_best = set_.compare(order_.indices[place], order_.indices[0], rule_);
      if (place > 0) row.adjusted_p = adjusted_p(place);
      row.excluder = excluder_of(place);
      if (row.excluder) row.excluded_by = at(*row.excluder).name;
      row.rank = row.excluder ? Rank::behind : at(place).values.empty() ? Rank::unknown : Rank::open;
      rows.push_back(std::move(row));
    }
    find_best(rows);
    return rows;
  }

 private:
  static constexpr auto untested = static_cast<std::size_t>(-1);

  const Candidate& at(std::size_t place) const { return candidates_[order_.indices[place]]; }

  // Without misses and deterministic values, a sample with fewer than `least_runs` values has no p value.
  void choose_tested()
  {
    const auto has_p = [&](const Candidate& c) { return c.is_exact || (scale_ == Scale::time_to_target && has_miss(c)); };
    const bool all_plain = std::none_of(candidates_.begin(), candidates_.end(), has_p);
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
      if (all_plain ? static_cast<double>(at(place).values.size()) < least_runs : at(place).values.empty()) continue;
      number_of_[place] = tested_.size();
      tested_.push_back(place);
    }
  }
  PairP tested(std::size_t earlier, std::size_t later) const
  {
    return set_.test(order_.indices[later], order_.indices[earlier], rule_);
  }
  // Nothing if either place is not tested.
  std::optional<AdjustedPair> pair(std::size_t earlier, std::size_t later) const
  {
    const auto a = number_of_[earlier], b = number_of_[later];
    if (a == untested || b == untested) return std::nullopt;
    if (!pairs_.empty()) return pairs_[b * (b - 1) / 2 + a];
    AdjustedPair own{tested(earlier, later)};
    for (double* p : {&own.test.p.difference, &own.test.p.beyond_margin}) *p = std::isnan(*p) ? *p : std::min(1.0, *p * factor_);
    return own;
  }
  double adjusted_p(std::size_t place) const
  {
    const auto with_first = pair(0, place);
    return with_first ? with_first->test.p.difference : std::numeric_limits<double>::quiet_NaN();
  }
  // The first place whose candidate is better than the one at `place`.
  std::optional<std::size_t> excluder_of(std::size_t place) const
  {
    if (number_of_[place] == untested) return std::nullopt;
    const auto most = is_large() ? most_excluders : tested_.size();
    for (std::size_t i = 0; i < most; ++i) {
      const auto other = tested_[i];
      if (other != place && pair(std::min(other, place), std::max(other, place))->is_behind(other < place, rule_.level))
        return other;
    }
    return std::nullopt;
  }
  // Tells the best, or those that are equivalent, from those that may be the best.
  void find_best(std::vector<Ranked>& rows) const
  {
    std::vector<std::size_t> left;
    for (std::size_t place = 0; place < rows.size(); ++place)
      if (rows[place].rank == Rank::open) left.push_back(place);
    if (left.size() == 1 && rows.size() > 1) rows[left[0]].rank = Rank::best;
    if (left.size() < 2 || left.size() > most_in_all_pairs) return;
    for (std::size_t later = 1; later < left.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        if (const auto own = pair(left[earlier], left[later]); !own || !own->is_equivalent(rule_.level)) return;
    for (const auto place : left) rows[place].rank = Rank::equivalent;
  }

  std::span<const Candidate> candidates_;
  Rule rule_;
  Scale scale_;
  CandidateSet set_;
  Order order_;
  std::vector<std::size_t> number_of_; // by place: its index in tested_
  std::vector<std::size_t> tested_;    // places, ascending
  std::vector<AdjustedPair> pairs_;    // of tested_
  double factor_ = 1;
};

bool is_better(double a, double b, Better better) { return better == Better::larger ? a > b : a < b; }

bool is_same(const Criteria& a, const Criteria& b) { return a.first == b.first && a.second == b.second; }

bool has_nan(const Criteria& point) { return std::isnan(point.first) || std::isnan(point.second); }

} // namespace

std::vector<PairOfP> adjusted_pairs(std::span<const PairOfP> pairs)
{
  struct Hypothesis {
    std::size_t pair;
    bool of_margin;
    double p;
  };
  std::vector<Hypothesis> ascending;
  std::vector<int> open(pairs.size()); // hypotheses of a pair that are not rejected
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (const bool of_margin : {false, true})
      if (const double p = of_margin ? pairs[i].beyond_margin : pairs[i].difference; !std::isnan(p)) {
        ascending.push_back({i, of_margin, p});
        ++open[i];
      }
  std::stable_sort(ascending.begin(), ascending.end(), [](const auto& a, const auto& b) { return a.p < b.p; });
  auto left = static_cast<double>(std::count_if(open.begin(), open.end(), [](int count) { return count > 0; }));
  std::vector<PairOfP> adjusted(pairs.begin(), pairs.end());
  double largest = 0;
  for (const auto& [pair, of_margin, p] : ascending) {
    largest = std::max(largest, left * p);
    (of_margin ? adjusted[pair].beyond_margin : adjusted[pair].difference) = std::min(1.0, largest);
    if (--open[pair] == 0) --left;
  }
  return adjusted;
}

std::vector<std::vector<Ranked>> rankings(std::span<const Contestants> contests)
{
  std::vector<std::unique_ptr<RankedContest>> all;
  for (const auto& contest : contests) all.push_back(std::make_unique<RankedContest>(contest));
  std::map<Metric, std::vector<SizeScatter>> sizes;
  for (std::size_t i = 0; i < all.size(); ++i) sizes[contests[i].metric].push_back(all[i]->scatter());
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->judge_with(sizes[contests[i].metric]);
  double number_of_pairs = 0;
  for (const auto& contest : all) number_of_pairs += contest->number_of_pairs();
  if (std::any_of(all.begin(), all.end(), [](const auto& contest) { return contest->is_large(); })) {
    for (const auto& contest : all) contest->multiply_by(number_of_pairs);
  } else {
    std::vector<PairOfP> tests;
    for (const auto& contest : all) contest->append_tests(tests);
    const auto adjusted = adjusted_pairs(tests);
    std::span<const PairOfP> left(adjusted);
    for (const auto& contest : all) left = contest->take_adjusted(left);
  }
  std::vector<std::vector<Ranked>> rows;
  for (const auto& contest : all) rows.push_back(contest->ranked());
  return rows;
}

std::vector<Ranked> ranking(std::span<const Candidate> candidates, Rule rule, Scale scale)
{
  const Contestants contest{candidates, rule, scale};
  return std::move(rankings({&contest, 1}).front());
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
