// Comparisons of two samples, one property at a time: intervals, margins, pairs and targets.
#include "store/analysis/statistics/comparison.hpp"
#include "tests/bench/statistics/report.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace dt::bench {
namespace {

using namespace dt::store;

constexpr double noise = 0.02, margin = 0.02;

// Two samples of n runs. The standard deviation of the logarithms of B is `noise`, that of A `noise_ratio` times as large.
struct Shape {
  std::size_t n;
  double noise_ratio;
};

std::vector<double> runs(test::Draws& draws, std::size_t count, double geometric_mean, double deviation)
{
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(geometric_mean * std::exp(deviation * draws.normal()));
  return values;
}

double share_of(int trials, const std::function<bool()>& holds)
{
  int count = 0;
  for (int trial = 0; trial < trials; ++trial) count += holds() ? 1 : 0;
  return static_cast<double>(count) / trials;
}

bool is_difference(Verdict verdict) { return verdict == Verdict::faster || verdict == Verdict::slower; }

bool contains(Interval interval, double truth) { return interval.low <= truth && truth <= interval.high; }

class TwoSamples {
 public:
  TwoSamples(const Shape& shape, int trials, test::Draws& draws) : shape_(shape), trials_(trials), draws_(draws) {}

  Json row()
  {
    constexpr double truth = 1.1;
    Json row{{"case", "two samples"}, {"n", shape_.n}, {"noise, A / B", std::to_string(std::lround(shape_.noise_ratio))}};
    row["coverage"] = share([&] { return contains(independent(truth).interval, truth); });
    row["paired"] = share([&] { return contains(in_blocks(truth, true).interval, truth); });
    row["accuracy"] = share([&] { return contains(accuracies().interval, 0.1); });
    row["false"] = share([&] { return is_difference(independent(1).verdict); });
    row["equivalent at the margin"] = share([&] { return independent(1 + margin, margin).verdict == Verdict::equivalent; });
    add_power(row);
    return row;
  }

 private:
  double share(const std::function<bool()>& holds) const { return share_of(trials_, holds); }

  void add_power(Json& row)
  {
    for (const int percent : {2, 5, 10}) {
      const double lead = 1 + percent / 100.0;
      const auto name = std::to_string(percent) + " %";
      row["power " + name] = share([&] { return independent(lead).verdict == Verdict::faster; });
      row["paired " + name] = share([&] { return in_blocks(lead, true).verdict == Verdict::faster; });
      row["not paired " + name] = share([&] { return in_blocks(lead, false).verdict == Verdict::faster; });
    }
  }

  Comparison independent(double truth, double margin_of_rule = 0)
  {
    const auto a = runs(draws_, shape_.n, 100 * truth, noise * shape_.noise_ratio), b = runs(draws_, shape_.n, 100, noise);
    return compare_ratio(a, b, {.margin = margin_of_rule});
  }

  // Both runs of a block have the block's drift, with a standard deviation of 10 %.
  Comparison in_blocks(double truth, bool paired)
  {
    auto a = runs(draws_, shape_.n, 100 * truth, noise * shape_.noise_ratio), b = runs(draws_, shape_.n, 100, noise);
    for (std::size_t i = 0; i < shape_.n; ++i) {
      const double drift = std::exp(0.1 * draws_.normal());
      a[i] *= drift;
      b[i] *= drift;
    }
    return paired ? compare_paired(a, b, {}) : compare_ratio(a, b, {});
  }

  Comparison accuracies()
  {
    std::vector<double> a, b;
    for (std::size_t i = 0; i < shape_.n; ++i) {
      a.push_back(0.9 + noise * shape_.noise_ratio * draws_.normal());
      b.push_back(0.8 + noise * draws_.normal());
    }
    return compare_means(a, b, {});
  }

  const Shape& shape_;
  int trials_;
  test::Draws& draws_;
};

// Times to a target that each run misses with this probability.
std::vector<double> times(test::Draws& draws, std::size_t count, double misses)
{
  auto values = runs(draws, count, 100, 0.1);
  for (auto& value : values)
    if (draws.chance(misses)) value = std::numeric_limits<double>::infinity();
  return values;
}

Json row_of_targets(std::size_t n, int trials, test::Draws& draws)
{
  const auto verdict = [&](double misses_a, double misses_b) {
    const auto a = times(draws, n, misses_a), b = times(draws, n, misses_b);
    return compare_times_to_target(a, b, {}).verdict;
  };
  return {{"case", "times to a target"},
          {"n", n},
          {"false, 20 % missed", share_of(trials, [&] { return is_difference(verdict(0.2, 0.2)); })},
          {"power, 10 % and 90 % missed", share_of(trials, [&] { return verdict(0.1, 0.9) == Verdict::faster; })}};
}

} // namespace

void report_comparisons(Report& report, const BenchOptions& options)
{
  const int trials = 5 * options.trials; // they are fast
  std::vector<Shape> shapes;
  for (const std::size_t n : {3, 5, 10})
    for (const double ratio : {1.0, 4.0}) shapes.push_back({n, ratio});
  report_cases(report, options, shapes.size(),
               [&](std::size_t i, test::Draws& draws) { return TwoSamples(shapes[i], trials, draws).row(); });
  const std::vector<std::size_t> sizes{3, 5, 10};
  report_cases(report, options, sizes.size(),
               [&](std::size_t i, test::Draws& draws) { return row_of_targets(sizes[i], trials, draws); });
}

} // namespace dt::bench
