#include "store/analysis/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dt::store {
namespace {

// The indices of the candidates, the best first, and the geometric mean of each candidate, in the order of the candidates.
struct Order {
  std::vector<std::size_t> indices;
  std::vector<double> means;
};

Order order_of(std::span<const Candidate> candidates, Better better)
{
  Order order{.indices = std::vector<std::size_t>(candidates.size()), .means = {}};
  std::iota(order.indices.begin(), order.indices.end(), std::size_t{0});
  for (const auto& candidate : candidates) order.means.push_back(std::exp(log_moments(candidate.values).mean));
  const auto precedes = [&](std::size_t a, std::size_t b) {
    const double first = order.means[a], second = order.means[b];
    if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
    return better == Better::larger ? first > second : first < second;
  };
  std::stable_sort(order.indices.begin(), order.indices.end(), precedes);
  return order;
}

// The comparisons of all pairs of places in the ranking, and their adjusted p values. Of the pair (better, worse), A is the
// worse.
class Pairs {
 public:
  Pairs(std::span<const Candidate> candidates, const Order& order, const Rule& rule)
  {
    std::vector<double> p;
    for (std::size_t worse = 1; worse < candidates.size(); ++worse)
      for (std::size_t better = 0; better < worse; ++better) {
        comparisons_.push_back(
            compare_ratio(candidates[order.indices[worse]].values, candidates[order.indices[better]].values, rule));
        p.push_back(comparisons_.back().p);
      }
    adjusted_ = holm_adjusted(p);
  }
  const Comparison& comparison(std::size_t better, std::size_t worse) const { return comparisons_[index(better, worse)]; }
  double adjusted_p(std::size_t better, std::size_t worse) const { return adjusted_[index(better, worse)]; }

 private:
  static std::size_t index(std::size_t better, std::size_t worse) { return worse * (worse - 1) / 2 + better; }
  std::vector<Comparison> comparisons_;
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

std::vector<Ranked> ranking(std::span<const Candidate> candidates, const Rule& rule)
{
  const auto order = order_of(candidates, rule.better);
  const Pairs pairs(candidates, order, rule);
  std::vector<Ranked> ranked;
  for (std::size_t place = 0; place < candidates.size(); ++place) {
    Ranked row{.name = candidates[order.indices[place]].name, .geometric_mean = order.means[order.indices[place]]};
    if (place > 0) {
      row.with_best = pairs.comparison(0, place);
      row.adjusted_p = pairs.adjusted_p(0, place);
    }
    for (std::size_t better = 0; better < place && row.excluded_by.empty(); ++better)
      if (pairs.adjusted_p(better, place) <= 1 - rule.level) row.excluded_by = ranked[better].name;
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
