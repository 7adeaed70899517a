#include "store/analysis/statistics/comparison.hpp"

#include "core/error.hpp"
#include "sleep_data.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN(), miss = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

Comparison ratio(const Values& a, const Values& b, const Rule& rule = {}) { return compare_ratio(a, b, rule); }
Comparison paired(const Values& a, const Values& b, const Rule& rule = {}) { return compare_paired(a, b, rule); }
Comparison means(const Values& a, const Values& b, const Rule& rule = {}) { return compare_means(a, b, rule); }
Comparison targets(const Values& a, const Values& b, const Rule& rule = {}) { return compare_times_to_target(a, b, rule); }

Values scaled(Values values, double factor)
{
  for (auto& value : values) value *= factor;
  return values;
}

Verdict mirrored(Verdict verdict)
{
  return verdict == Verdict::faster ? Verdict::slower : verdict == Verdict::slower ? Verdict::faster : verdict;
}

// Pairs of samples with every verdict at a margin of 2 %.
const std::vector<std::pair<Values, Values>> examples{{{100, 101, 102}, {90, 91, 92}},
                                                      {{90, 91, 92, 93}, {100, 101, 102}},
                                                      {{100, 100.1, 100.2}, {100.1, 100.2, 100.3, 100.2}},
                                                      {{100, 120, 90}, {110, 95, 105}},
                                                      {{100, 101}, {90, 91, 92}}};

// Three values whose logarithms have exactly this mean and standard deviation.
Values three_values(double mean, double deviation)
{
  return {std::exp(mean - deviation), std::exp(mean), std::exp(mean + deviation)};
}

} // namespace

TEST_CASE("the ratio's interval and p value are R's of Student's data on logarithms")
{
  const auto& truth = sleep_data::welch;
  const auto result = ratio(sleep_data::exponentials(sleep_data::first), sleep_data::exponentials(sleep_data::second));
  CHECK(result.effect == Approx(std::exp(truth.difference)));
  CHECK(std::log(result.interval.low) == Approx(truth.low).epsilon(1e-7));
  CHECK(std::log(result.interval.high) == Approx(truth.high).epsilon(1e-6));
  CHECK(result.p == Approx(truth.p).epsilon(1e-4));
  CHECK(result.verdict == Verdict::cannot_tell);
  CHECK(result.runs_a == 10);
  CHECK(result.runs_b == 10);
}

TEST_CASE("pairing decides Student's data, as in R")
{
  const auto& truth = sleep_data::paired;
  const auto result = paired(sleep_data::exponentials(sleep_data::first), sleep_data::exponentials(sleep_data::second));
  CHECK(result.effect == Approx(std::exp(truth.difference)));
  CHECK(std::log(result.interval.low) == Approx(truth.low).epsilon(1e-7));
  CHECK(std::log(result.interval.high) == Approx(truth.high).epsilon(1e-7));
  CHECK(result.p == Approx(truth.p).epsilon(2e-4));
  CHECK(result.verdict == Verdict::slower);
  CHECK(result.left_out == 0);
}

TEST_CASE("accuracies are compared by the difference of their means, and may be 0")
{
  const auto& truth = sleep_data::welch;
  const auto result = means(sleep_data::first, sleep_data::second);
  CHECK(result.effect == Approx(truth.difference));
  CHECK(result.interval.low == Approx(truth.low).epsilon(1e-7));
  CHECK(result.p == Approx(truth.p).epsilon(1e-4));
  CHECK(means({0, 0, 0}, {0.9, 0.91, 0.92}).verdict == Verdict::slower);
  CHECK(means({0, 0, 0}, {0, 0, 0}).verdict == Verdict::cannot_tell); // nothing is known about the scatter
  CHECK(means({0.98, 0.981, 0.982}, {0.979, 0.98, 0.981}, {.margin = 0.01}).verdict == Verdict::equivalent);
}

TEST_CASE(
    "a verdict depends on where the interval lies to 1 and to the margin, and is the other one where smaller values are better")
{
  const auto verdict = [](double low, double high, double margin) {
    return verdict_of_ratio({low, high}, margin, Better::larger);
  };
  CHECK(verdict(1.03, 1.10, 0.02) == Verdict::faster);
  CHECK(verdict(1.01, 1.10, 0.02) == Verdict::faster); // above 1, and not inside the margin
  CHECK(verdict(1.001, 1.019, 0.02) == Verdict::equivalent);
  CHECK(verdict(0.99, 1.01, 0.02) == Verdict::equivalent);
  CHECK(verdict(1 / 1.02, 1.02, 0.02) == Verdict::equivalent);
  CHECK(verdict(0.97, 1.01, 0.02) == Verdict::cannot_tell);
  CHECK(verdict(0.90, 1.10, 0.02) == Verdict::cannot_tell);
  CHECK(verdict(0.90, 0.995, 0.02) == Verdict::slower);
  CHECK(verdict(0.979, 0.98, 0.02) == Verdict::slower); // 1/1.02 is 0.9804
  CHECK(verdict(0.981, 0.99, 0.02) == Verdict::equivalent);
  CHECK(verdict(1, 1.1, 0) == Verdict::cannot_tell);
  CHECK(verdict(1, 1, 0) == Verdict::equivalent);
  CHECK(verdict(1.0001, 1.1, 0) == Verdict::faster);
  CHECK(verdict(nan_value, nan_value, 0.02) == Verdict::cannot_tell);
  for (const auto interval : {Interval{1.03, 1.1}, Interval{0.9, 0.95}, Interval{0.99, 1.01}, Interval{0.9, 1.1}})
    CHECK(verdict_of_ratio(interval, 0.02, Better::smaller) == mirrored(verdict_of_ratio(interval, 0.02, Better::larger)));
}

TEST_CASE("a verdict about differences compares with 0 and the margin on both sides")
{
  const auto verdict = [](double low, double high) { return verdict_of_difference({low, high}, 0.01, Better::larger); };
  CHECK(verdict(0.001, 0.02) == Verdict::faster);
  CHECK(verdict(-0.02, -0.001) == Verdict::slower);
  CHECK(verdict(-0.01, 0.01) == Verdict::equivalent);
  CHECK(verdict(-0.011, 0.001) == Verdict::cannot_tell);
}

TEST_CASE("swapping A and B inverts the ratio and mirrors the verdict")
{
  for (const auto& [a, b] : examples)
    for (const double margin : {0.0, 0.02, 0.2}) {
      CAPTURE(a, b, margin);
      const auto there = ratio(a, b, {.margin = margin}), back = ratio(b, a, {.margin = margin});
      CHECK(back.effect == Approx(1 / there.effect));
      CHECK(back.verdict == mirrored(there.verdict));
      CHECK(more_repeats(back).per_side == more_repeats(there).per_side);
      if (std::isnan(there.p)) continue;
      CHECK(back.interval.low == Approx(1 / there.interval.high));
      CHECK(back.interval.high == Approx(1 / there.interval.low));
      CHECK(back.p == Approx(there.p));
    }
}

TEST_CASE("another unit changes nothing, a higher level has a longer interval, and throughputs and the times of the same work "
          "have one verdict")
{
  const auto times = [](Values values) {
    for (auto& value : values) value = 1 / value;
    return values;
  };
  for (const auto& [a, b] : examples) {
    CAPTURE(a, b);
    const auto one = ratio(a, b, {.margin = 0.02}), other = ratio(scaled(a, 3600), scaled(b, 3600), {.margin = 0.02});
    CHECK(other.effect == Approx(one.effect));
    CHECK(other.resolvable == Approx(one.resolvable));
    CHECK(other.verdict == one.verdict);
    CHECK(more_repeats(other).per_side == more_repeats(one).per_side);
    CHECK(ratio(times(a), times(b), {.margin = 0.02, .better = Better::smaller}).verdict == one.verdict);
  }
  const auto& [a, b] = examples[3];
  CHECK(ratio(a, b, {.level = 0.99}).interval.low < ratio(a, b, {.level = 0.95}).interval.low);
  CHECK(ratio(a, b, {.level = 0.5}).interval.low > ratio(a, b, {.level = 0.95}).interval.low);
}

TEST_CASE("of several comparisons that are looked at together, each has the level and the p value of Bonferroni's correction")
{
  const Rule one{.margin = 0.02}, of_four{.margin = 0.02, .comparisons = 4};
  for (const auto& [a, b] : examples)
    for (const auto compare : {ratio, means}) {
      const auto corrected = compare(a, b, of_four), alone = compare(a, b, one), strict = compare(a, b, {.level = 1 - 0.05 / 4});
      if (std::isnan(alone.p)) continue;
      CHECK(corrected.interval.low == Approx(strict.interval.low));
      CHECK(corrected.interval.high == Approx(strict.interval.high));
      CHECK(corrected.resolvable == Approx(strict.resolvable));
      CHECK(corrected.p == Approx(std::min(1.0, 4 * alone.p)));
    }
  const Values early{1, 2, 3, 4, 5}, late{6, 7, 8, 9, miss}; // by ranks: p = 2/252
  CHECK(targets(early, late, one).verdict == Verdict::faster);
  CHECK(targets(early, late, of_four).p == Approx(4 * 2.0 / 252));
  CHECK(targets(early, late, {.comparisons = 7}).verdict == Verdict::cannot_tell);
}

TEST_CASE("pairing helps when blocks drift, and a drift of whole blocks does not change a paired comparison")
{
  const Values a{100, 80, 120, 95}, b{95.1, 76, 114.2, 90.1}; // 5 % apart within each block
  CHECK(ratio(a, b).verdict == Verdict::cannot_tell);
  CHECK(paired(a, b).verdict == Verdict::faster);
  CHECK(paired(a, b).interval.low > 1.04);
  CHECK(paired(a, b).interval.high < 1.06);
  const Values c{100, 101, 102, 99}, d{98, 97, 99, 96}, drift{1, 2, 0.3, 7};
  Values drifted_a = c, drifted_b = d;
  for (std::size_t i = 0; i < drift.size(); ++i) {
    drifted_a[i] *= drift[i];
    drifted_b[i] *= drift[i];
  }
  const auto still = paired(c, d), drifted = paired(drifted_a, drifted_b);
  CHECK(drifted.interval.low == Approx(still.interval.low));
  CHECK(drifted.interval.high == Approx(still.interval.high));
}

TEST_CASE("blocks in which a run is missing are left out and counted")
{
  const Values a{100, nan_value, 102, 99, nan_value, 101}, b{98, 97, 99, nan_value, nan_value, 97};
  const auto result = paired(a, b), whole = paired({100, 102, 101}, {98, 99, 97});
  CHECK(result.left_out == 3);
  CHECK(result.runs_a == 3);
  CHECK(result.runs_b == 3);
  CHECK(result.effect == Approx(whole.effect));
  CHECK(result.interval.low == Approx(whole.interval.low));
}

TEST_CASE("with fewer than three runs of either side there is no interval but a resolvable difference")
{
  // Logarithms 0, 0.02 and 0, 0.04: pooled variance (0.0002 + 0.0008) / 2, two degrees of freedom.
  const auto two = ratio({1, std::exp(0.02)}, {1, std::exp(0.04)});
  CHECK(two.effect == Approx(std::exp(-0.01)));
  CHECK(std::isnan(two.interval.low));
  CHECK(std::isnan(two.p));
  CHECK(two.verdict == Verdict::cannot_tell);
  CHECK(two.resolvable == Approx(4.302652730 * std::sqrt(2 / 2.0) * std::sqrt(0.0005)));
  // One run of A: the scatter is that of B, variance 0.0001, two degrees of freedom.
  const auto one = ratio({1}, three_values(0, 0.01));
  CHECK(one.resolvable == Approx(4.302652730 * std::sqrt(1 + 1 / 3.0) * 0.01));
  CHECK(std::isnan(ratio({1}, {2}).resolvable));
  CHECK(std::isnan(ratio({}, {1, 2, 3}).resolvable));
  CHECK(std::isnan(ratio({}, {1, 2, 3}).effect));
}

TEST_CASE("the resolvable difference is half of the interval's logarithm where both samples scatter alike")
{
  const auto result = ratio(three_values(1, 0.05), three_values(2, 0.05));
  CHECK(result.resolvable == Approx(std::log(result.interval.high / result.interval.low) / 2));
  const auto pairs = paired({100, 102, 99, 101}, {98, 97, 99, 96});
  CHECK(pairs.resolvable == Approx(std::log(pairs.interval.high / pairs.interval.low) / 2));
  CHECK(std::isnan(paired({1}, {2}).resolvable));
  CHECK(paired({1, 2}, {1, 3}).resolvable == Approx(12.70620474 * std::log(1.5) / 2)); // one degree of freedom
}

TEST_CASE("more repeats are counted until the interval decides, or shows equivalence, and pairs are blocks, and a decided "
          "comparison needs none")
{
  // Half of the interval is t(0.975, 2n - 2) 0.02 sqrt(2/n): 0.0453, 0.0346, 0.0292 with n = 3, 4, 5.
  const auto result = ratio(three_values(0.03, 0.02), three_values(0, 0.02));
  CHECK(result.verdict == Verdict::cannot_tell);
  CHECK(more_repeats(result).known);
  CHECK(more_repeats(result).decides);
  CHECK(more_repeats(result).per_side == 2);
  // Equal means: half of the interval, t(0.975, 2n - 2) 0.02 sqrt(2/n), must be below ln 1.02 = 0.0198. It is 0.01999 and 0.0188
  // with n = 9 and 10.
  const auto equal = ratio(three_values(0, 0.02), three_values(0, 0.02), {.margin = 0.02});
  CHECK(more_repeats(equal).per_side == 7);
  // Differences of logarithms 0.01, 0.03, 0.05: t(0.975, n - 1) 0.02 / sqrt(n) is 0.0497, 0.0318, 0.0248 with n = 3, 4, 5.
  const auto pairs = paired({std::exp(0.01), std::exp(0.03), std::exp(0.05)}, {1, 1, 1});
  CHECK(more_repeats(pairs).per_side == 2);
  const auto decided = more_repeats(ratio({100, 101, 102}, {90, 91, 92}));
  CHECK(decided.known);
  CHECK(decided.decides);
  CHECK(decided.per_side == 0);
}

TEST_CASE("no number of repeats decides between equals without a margin, the search ends at its limit, and starts from two runs "
          "of one side")
{
  const auto answer = more_repeats(ratio(three_values(0, 0.02), three_values(0, 0.02)), 200);
  CHECK(answer.known);
  CHECK_FALSE(answer.decides);
  CHECK_FALSE(more_repeats(ratio(three_values(0.03, 0.02), three_values(0, 0.02)), 1).decides);
  CHECK(more_repeats(ratio({100}, {50, 50.1})).per_side == 2); // the interval needs three runs
  CHECK_FALSE(more_repeats(ratio({100}, {50})).known);
  CHECK_FALSE(more_repeats(ratio({}, {50, 51, 52})).known);
  CHECK_FALSE(more_repeats(targets({1, miss}, {2, 3})).known);
}

TEST_CASE("a regression needs the whole interval beyond the margin on the bad side")
{
  const auto with = [](Interval interval, double margin, Better better, Method method = Method::ratio) {
    Comparison comparison;
    comparison.method = method;
    comparison.rule = {.margin = margin, .better = better};
    comparison.interval = interval;
    return is_regression(comparison);
  };
  CHECK(with({0.90, 0.94}, 0.05, Better::larger));
  CHECK_FALSE(with({0.90, 0.96}, 0.05, Better::larger)); // 1/1.05 is 0.952
  CHECK_FALSE(with({1.06, 1.10}, 0.05, Better::larger));
  CHECK(with({1.06, 1.10}, 0.05, Better::smaller));
  CHECK_FALSE(with({1.04, 1.10}, 0.05, Better::smaller));
  CHECK_FALSE(with({0.90, 0.94}, 0.05, Better::smaller));
  CHECK(with({-0.04, -0.02}, 0.01, Better::larger, Method::difference));
  CHECK_FALSE(with({-0.04, -0.005}, 0.01, Better::larger, Method::difference));
  CHECK_FALSE(with({nan_value, nan_value}, 0.01, Better::larger));
  CHECK(is_regression(ratio({80, 81, 82}, {100, 101, 102}, {.margin = 0.05})));
  CHECK_FALSE(is_regression(ratio({80, 81}, {100, 101, 102}, {.margin = 0.05})));
}

TEST_CASE("a miss counts as later than any time and is not dropped, and times that all reached the target are compared as ratios")
{
  // 8 of 8 reached in about 100 s, against 1 of 8 in 50 s: without its misses the second would be twice as fast.
  const Values steady{100, 101, 102, 103, 104, 105, 106, 107}, lucky{50, miss, miss, miss, miss, miss, miss, miss};
  const auto result = targets(steady, lucky);
  CHECK(result.method == Method::ranks);
  CHECK(result.effect == 0); // a finite median over an infinite one
  CHECK(std::isnan(result.interval.low));
  CHECK(result.p < 0.05);
  CHECK(result.verdict == Verdict::faster);
  CHECK(targets(lucky, steady).verdict == Verdict::slower);
  const auto ratios = targets({50, 51, 52}, {100, 101, 102});
  CHECK(ratios.method == Method::ratio);
  CHECK(ratios.verdict == Verdict::faster);
  CHECK(ratios.effect == Approx(ratio({50, 51, 52}, {100, 101, 102}).effect));
}

TEST_CASE(
    "the p value of a comparison with misses is the one counted by hand, and three runs with a miss against three cannot decide")
{
  // Ranks 2 to 7 of A; 1 and five times 10 of B. The sum of A is 27, 12 below its mean. Of the 924 ways, the sum is 27 or less
  // with no miss (7 ways) or one (5 times the 4 pairs of 1 … 7 with a sum of 11 or more left out), and as many are 12 above.
  const auto result = targets({100, 101, 102, 103, 104, 105}, {50, miss, miss, miss, miss, miss});
  CHECK(result.p == Approx(54 / 924.0));
  CHECK(result.smallest_p == Approx(2 / 924.0)); // 1 … 6 chosen, or left out: of six 1 … 7 and 10
  CHECK(result.verdict == Verdict::cannot_tell);
  const auto few = targets({1, 2, 3}, {miss, miss, miss});
  CHECK(few.p == Approx(0.1));
  CHECK(few.smallest_p == Approx(0.1));
  CHECK(few.verdict == Verdict::cannot_tell);
  CHECK(targets({1, 2, 3}, {miss, miss, miss}, {.level = 0.9}).verdict == Verdict::faster);
  CHECK(targets({1, 2, 3, 4}, {miss, miss, miss, miss}).verdict == Verdict::faster);
}

TEST_CASE("the ratio of medians is 0, infinite or NaN where misses leave no median")
{
  CHECK(targets({1, 2, miss}, {4, 4, miss}).effect == Approx(0.5));
  CHECK(targets({miss, miss, 1}, {4, 4, 4}).effect == miss);
  CHECK(std::isnan(targets({miss, miss}, {miss, miss}).effect));
  CHECK(targets({miss, miss}, {miss, miss}).verdict == Verdict::cannot_tell);
  CHECK(targets({miss}, {}).verdict == Verdict::cannot_tell);
}

TEST_CASE("values that have no logarithm are refused")
{
  CHECK_THROWS_WITH(ratio({1, 0, 2}, {1, 2, 3}), "Comparison: each value must be positive and finite, not 0.000000");
  CHECK_THROWS_AS(ratio({1, 2}, {miss}), Error);
  CHECK_THROWS_AS(ratio({1, nan_value}, {1}), Error);
  CHECK_THROWS_AS(paired({1, -1}, {1, nan_value}), Error);
  CHECK_THROWS_WITH(paired({1, 2}, {1}), "Comparison: paired samples must have the same blocks, not 2 and 1");
  CHECK_THROWS_AS(means({nan_value}, {1}), Error);
  CHECK_THROWS_AS(targets({nan_value}, {1}), Error);
  CHECK_THROWS_WITH(ratio({1}, {1}, {.level = 95}), "Comparison: the confidence level must be between 0 and 1, not 95.000000");
  CHECK_THROWS_WITH(ratio({1}, {1}, {.margin = -0.1}), "Comparison: the margin must be 0 or larger, not -0.100000");
}
