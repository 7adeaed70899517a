#include "store/analysis/statistics/comparison.hpp"

#include "core/error.hpp"
#include "store/analysis/statistics/distributions.hpp"
#include "store/analysis/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace dt::store {
namespace {

[[noreturn]] void refuse(const std::string& what, double value)
{
  throw Error(ErrorKind::internal, "Comparison: " + what + ", not " + std::to_string(value));
}

void require_positive(std::span<const double> values)
{
  for (const double value : values)
    if (!(value > 0) || std::isinf(value)) refuse("each value must be positive and finite", value);
}

void require_rule(const Rule& rule)
{
  if (!(rule.level > 0 && rule.level < 1)) refuse("the confidence level must be between 0 and 1", rule.level);
  if (!(rule.margin >= 0)) refuse("the margin must be 0 or larger", rule.margin);
  if (!(rule.comparisons >= 1)) refuse("there must be 1 comparison or more", rule.comparisons);
}

// The values that do not matter: those between the bounds. `equal` is the value of no difference.
struct Band {
  double low, equal, high;
};

Band band_of_ratio(double margin) { return {1 / (1 + margin), 1, 1 + margin}; }
Band band_of_difference(double margin) { return {-margin, 0, margin}; }

Verdict verdict_of(Interval interval, const Band& band, Better better)
{
  if (band.low <= interval.low && interval.high <= band.high) return Verdict::equivalent;
  const bool above = interval.low > band.equal, below = interval.high < band.equal;
  if (above) return better == Better::larger ? Verdict::faster : Verdict::slower;
  if (below) return better == Better::larger ? Verdict::slower : Verdict::faster;
  return Verdict::cannot_tell; // a comparison with NaN is false
}

// A variance that both samples share, and its degrees of freedom.
struct Pooled {
  double variance, freedom; // NaN and 0 if no sample has two values
};

Pooled pooled(const Moments& a, const Moments& b)
{
  double squares = 0, freedom = 0;
  for (const auto* sample : {&a, &b}) {
    if (sample->count < 2) continue;
    squares += sample->variance * (sample->count - 1);
    freedom += sample->count - 1;
  }
  return {squares / freedom, freedom};
}

bool is_within_rounds(Design design) { return design == Design::paired || design == Design::pooled; }

// The scatter of a run on the scale of the moments.
Pooled scatter_of(const Comparison& c)
{
  return is_within_rounds(c.design) ? Pooled{c.within.variance, c.within.freedom} : pooled(c.a, c.b);
}

double from_scale(Method method, double value) { return method == Method::difference ? value : std::exp(value); }

Interval interval_of(const Estimate& estimate, Method method, double level)
{
  const auto interval = confidence_interval(estimate, level);
  return {from_scale(method, interval.low), from_scale(method, interval.high)};
}

Verdict verdict_of(Interval interval, Method method, const Rule& rule)
{
  return method == Method::difference ? verdict_of_difference(interval, rule.margin, rule.better)
                                      : verdict_of_ratio(interval, rule.margin, rule.better);
}

// A NaN stays.
double at_most_1(double p) { return p > 1 ? 1 : p; }

double level_of(const Comparison& c) { return 1 - (1 - level_of_one(c.rule)) / c.within.price; }

double resolvable_of(const Comparison& c)
{
  const auto [variance, freedom] = scatter_of(c);
  const double runs_b = is_within_rounds(c.design) ? c.a.count : c.b.count;
  return resolvable_difference(std::sqrt(variance), freedom, c.a.count, runs_b, level_of(c));
}

// Of what has a method, a design, a rule and moments.
void judge(Comparison& c, const Estimate& estimate)
{
  require_rule(c.rule);
  c.runs_a = static_cast<std::size_t>(c.a.count);
  c.runs_b = is_within_rounds(c.design) ? c.runs_a : static_cast<std::size_t>(c.b.count);
  c.effect = from_scale(c.method, estimate.value);
  c.has_no_scatter = estimate.standard_error < least_scatter; // false if it is NaN
  if (c.has_no_scatter) return;
  c.interval = interval_of(estimate, c.method, level_of(c));
  c.p = at_most_1(c.within.price * c.rule.comparisons * two_sided_p(estimate));
  c.resolvable = resolvable_of(c);
  c.verdict = verdict_of(c.interval, c.method, c.rule);
}

double ratio_of_medians(std::span<const double> a, std::span<const double> b)
{
  return median_with_misses(a) / median_with_misses(b); // infinity / infinity is NaN
}

Comparison compare_ranks(std::span<const double> a, std::span<const double> b, const Rule& rule)
{
  require_rule(rule);
  Comparison result{.method = Method::ranks, .rule = rule, .runs_a = a.size(), .runs_b = b.size()};
  const auto test = rank_test(a, b);
  result.effect = ratio_of_medians(a, b);
  result.p = at_most_1(rule.comparisons * test.p);
  result.smallest_p = at_most_1(rule.comparisons * test.smallest_p);
  constexpr double rounding = 1e-12; // 1 - 0.9 is a little below 0.1
  if (result.p <= 1 - rule.level + rounding) result.verdict = test.rank_difference < 0 ? Verdict::faster : Verdict::slower;
  return result;
}

// The sample with `more` further runs that leave its mean and its variance as they are.
Moments extended(Moments sample, double more, double variance_of_one)
{
  if (sample.count < 2) sample.variance = variance_of_one;
  sample.count += more;
  return sample;
}

// The estimate if so many more runs of each side, or rounds, left effect and scatter as they are.
Estimate extended_estimate(const Comparison& c, double variance_of_one, double more)
{
  if (is_within_rounds(c.design)) return difference_within(c.a, c.within, more);
  return difference_of_means(extended(c.a, more, variance_of_one), extended(c.b, more, variance_of_one));
}

} // namespace

Verdict verdict_of_ratio(Interval ratio, double margin, Better better)
{
  return verdict_of(ratio, band_of_ratio(margin), better);
}

Verdict verdict_of_difference(Interval difference, double margin, Better better)
{
  return verdict_of(difference, band_of_difference(margin), better);
}

Comparison compare_ratio(std::span<const double> a, std::span<const double> b, const Rule& rule)
{
  require_positive(a);
  require_positive(b);
  return compare_moments(Method::ratio, Design::independent, log_moments(a), log_moments(b), {}, rule);
}

Comparison compare_paired(std::span<const double> a, std::span<const double> b, const Rule& rule)
{
  if (a.size() != b.size())
    throw Error(ErrorKind::internal, "Comparison: paired samples must have the same blocks, not " + std::to_string(a.size()) +
                                         " and " + std::to_string(b.size()));
  std::vector<double> ratios;
  for (std::size_t block = 0; block < a.size(); ++block) {
    for (const double value : {a[block], b[block]})
      if (!std::isnan(value)) require_positive({&value, 1});
    if (!std::isnan(a[block]) && !std::isnan(b[block])) ratios.push_back(a[block] / b[block]);
  }
  const auto differences = log_moments(ratios);
  auto result =
      compare_moments(Method::ratio, Design::paired, differences, {}, {differences.variance / 2, differences.count - 1, 1}, rule);
  result.left_out = a.size() - ratios.size();
  return result;
}

Estimate difference_within(const Moments& differences, const WithinRounds& within, double more_rounds)
{
  const double rounds = differences.count + more_rounds, nothing = std::numeric_limits<double>::quiet_NaN();
  if (rounds < least_runs) return {differences.mean, nothing, nothing};
  return {differences.mean, std::sqrt(2 * within.variance / rounds), within.freedom + more_rounds * within.freedom_per_round};
}

Comparison compare_moments(Method method, Design design, const Moments& a, const Moments& b, const WithinRounds& within,
                           const Rule& rule)
{
  Comparison result{.method = method, .design = design, .rule = rule, .a = a, .b = b, .within = within};
  judge(result, is_within_rounds(design) ? difference_within(a, within, 0) : difference_of_means(a, b));
  return result;
}

Comparison compare_exact(Method method, double a, double b, const Rule& rule)
{
  require_rule(rule);
  Comparison result{.method = method, .design = Design::exact, .rule = rule, .runs_a = 1, .runs_b = 1, .has_no_scatter = true};
  result.effect = method == Method::difference ? a - b : a / b;
  result.verdict = verdict_of({result.effect, result.effect}, method, rule);
  return result;
}

PairOfP p_values_of(const Estimate& estimate, Method method, double margin, double price)
{
  const double reach = method == Method::difference ? margin : std::log1p(margin);
  if (!(estimate.standard_error >= least_scatter)) return {nan, nan};
  const double p = at_most_1(price * two_sided_p(estimate));
  if (!(margin > 0)) return {p, nan};
  const double nearest = (reach - std::abs(estimate.value)) / estimate.standard_error; // of the two bounds
  return {p, at_most_1(2 * price * student_t_upper_p(nearest, estimate.freedom))};
}

Comparison compare_means(std::span<const double> a, std::span<const double> b, const Rule& rule)
{
  for (const auto sample : {a, b})
    for (const double value : sample)
      if (!std::isfinite(value)) refuse("each value must be finite", value);
  return compare_moments(Method::difference, Design::independent, moments_of(a), moments_of(b), {}, rule);
}

Comparison compare_times_to_target(std::span<const double> a, std::span<const double> b, Rule rule)
{
  rule.better = Better::smaller;
  bool all_reached = true;
  for (const auto sample : {a, b})
    for (const double time : sample) {
      if (!(time > 0)) refuse("each time must be positive, or infinite for a miss", time);
      all_reached = all_reached && std::isfinite(time);
    }
  return all_reached ? compare_ratio(a, b, rule) : compare_ranks(a, b, rule);
}

double resolvable_difference(double cv, double freedom, double runs_a, double runs_b, double level)
{
  if (!(freedom >= 1) || !(runs_a > 0) || !(runs_b > 0)) return nan;
  return student_t_quantile((1 + level) / 2, freedom) * std::sqrt(1 / runs_a + 1 / runs_b) * cv;
}

MoreRepeats more_repeats(const Comparison& comparison, std::size_t most)
{
  if (comparison.verdict != Verdict::cannot_tell) return {.known = true, .decides = true};
  const auto scatter = scatter_of(comparison);
  const bool known = comparison.method != Method::ranks && std::isfinite(comparison.effect) && scatter.freedom > 0 &&
                     std::sqrt(scatter.variance) >= least_scatter;
  if (!known) return {};
  for (std::size_t more = 1; more <= most; ++more) {
    const auto estimate = extended_estimate(comparison, scatter.variance, static_cast<double>(more));
    const auto interval = interval_of(estimate, comparison.method, level_of(comparison));
    if (verdict_of(interval, comparison.method, comparison.rule) != Verdict::cannot_tell)
      return {.known = true, .decides = true, .per_side = more};
  }
  return {.known = true};
}

bool is_regression(const Comparison& comparison)
{
  const bool is_exact = comparison.design == Design::exact;
  const auto [low, high] = is_exact ? Interval{comparison.effect, comparison.effect} : comparison.interval;
  const double margin = comparison.rule.margin;
  const auto band = comparison.method == Method::difference ? band_of_difference(margin) : band_of_ratio(margin);
  return comparison.rule.better == Better::larger ? high < band.low : low > band.high;
}

} // namespace dt::store
