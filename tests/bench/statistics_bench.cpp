// How often the statistics of verdicts (store/analysis/) are right. Simulates studies with log-normal runs whose truth is known,
// and prints one JSON object per case:
//
//   bench_statistics [--trials 100000] [--seed 1]
//
// `noise` is the standard deviation of the logarithms of B; that of A is `noise_ratio` times as large. `standard_error` is that
// of the share.
#include "core/random.hpp"
#include "store/analysis/statistics/comparison.hpp"
#include "store/analysis/statistics/race.hpp"
#include "store/analysis/statistics/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace dt;
using namespace dt::store;
using Json = nlohmann::ordered_json;

constexpr double noise = 0.02;
constexpr double margin = 0.02;
constexpr std::size_t candidates = 6;

// Standard normal numbers by the transformation of Box and Muller: dt::Random::normal is never beyond 3.5.
class Normal {
 public:
  explicit Normal(std::uint64_t key) : random_(key) {}
  double operator()()
  {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
    return radius * std::cos(angle);
  }
  // In (0, 1).
  double uniform() { return (static_cast<double>(random_.word() >> 11) + 0.5) * 0x1p-53; }

 private:
  Random random_;
};

std::vector<double> runs(Normal& normal, std::size_t count, double geometric_mean, double deviation)
{
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(geometric_mean * std::exp(deviation * normal()));
  return values;
}

// Prints the case with the share of trials in which `holds` is true. Each case has random numbers of its own.
class Bench {
 public:
  Bench(int trials, std::uint64_t seed) : trials_(trials), seed_(seed) {}
  void print(const char* what, Json parameters, const std::function<bool(Normal&)>& holds)
  {
    Normal normal(sub_key(seed_, cases_++));
    int count = 0;
    for (int trial = 0; trial < trials_; ++trial) count += holds(normal) ? 1 : 0;
    const double share = count / static_cast<double>(trials_);
    Json line{{"case", what}};
    line.update(parameters);
    line["trials"] = trials_;
    line["share"] = share;
    line["standard_error"] = std::sqrt(share * (1 - share) / trials_);
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }

 private:
  int trials_;
  std::uint64_t seed_, cases_ = 0;
};

bool is_difference(Verdict verdict) { return verdict == Verdict::faster || verdict == Verdict::slower; }

// Two samples of n runs.
struct Shape {
  std::size_t n;
  double noise_ratio;
  Json json() const { return {{"n", n}, {"noise", noise}, {"noise_ratio", noise_ratio}}; }
};

Comparison independent(Normal& normal, const Shape& shape, double truth, double margin_of_rule = 0)
{
  const auto a = runs(normal, shape.n, 100 * truth, noise * shape.noise_ratio), b = runs(normal, shape.n, 100, noise);
  return compare_ratio(a, b, {.margin = margin_of_rule});
}

// Both runs of a block have the block's drift, with a standard deviation of 10 %.
Comparison in_blocks(Normal& normal, const Shape& shape, double truth, bool paired)
{
  auto a = runs(normal, shape.n, 100 * truth, noise * shape.noise_ratio), b = runs(normal, shape.n, 100, noise);
  for (std::size_t i = 0; i < shape.n; ++i) {
    const double drift = std::exp(0.1 * normal());
    a[i] *= drift;
    b[i] *= drift;
  }
  return paired ? compare_paired(a, b, {}) : compare_ratio(a, b, {});
}

bool contains(Interval interval, double truth) { return interval.low <= truth && truth <= interval.high; }

void print_two_samples(Bench& bench, const Shape& shape)
{
  const double truth = 1.1;
  bench.print("coverage", shape.json(), [&](Normal& n) { return contains(independent(n, shape, truth).interval, truth); });
  bench.print("coverage, paired", shape.json(),
              [&](Normal& n) { return contains(in_blocks(n, shape, truth, true).interval, truth); });
  bench.print("coverage, accuracy", shape.json(), [&](Normal& n) {
    std::vector<double> a, b;
    for (std::size_t i = 0; i < shape.n; ++i) a.push_back(0.9 + noise * shape.noise_ratio * n()), b.push_back(0.8 + noise * n());
    return contains(compare_means(a, b, {}).interval, 0.1);
  });
  bench.print("A/A, false verdict", shape.json(), [&](Normal& n) { return is_difference(independent(n, shape, 1).verdict); });
  auto with_margin = shape.json();
  with_margin["margin"] = margin;
  bench.print("false equivalence at the margin", with_margin,
              [&](Normal& n) { return independent(n, shape, 1 + margin, margin).verdict == Verdict::equivalent; });
  for (const double difference : {0.02, 0.05, 0.10}) {
    auto parameters = shape.json();
    parameters["difference"] = difference;
    bench.print("power", parameters, [&](Normal& n) { return independent(n, shape, 1 + difference).verdict == Verdict::faster; });
    bench.print("power, paired", parameters,
                [&](Normal& n) { return in_blocks(n, shape, 1 + difference, true).verdict == Verdict::faster; });
    bench.print("power, same blocks not paired", parameters,
                [&](Normal& n) { return in_blocks(n, shape, 1 + difference, false).verdict == Verdict::faster; });
  }
}

// The ranking of six candidates, of which every other one has noise_ratio times the noise; the first is better by `difference`.
std::vector<Ranked> ranking_of(Normal& normal, const Shape& shape, double difference)
{
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < candidates; ++i)
    all.push_back({std::to_string(i),
                   runs(normal, shape.n, i == 0 ? 100 * (1 + difference) : 100, i % 2 == 0 ? noise : noise * shape.noise_ratio)});
  return ranking(all, {});
}

// Whether Holm's correction for the k - 1 comparisons with the observed best alone, which `ranking` does not use, excludes a
// candidate.
bool excludes_by_few_comparisons(const std::vector<Ranked>& ranked)
{
  std::vector<double> p;
  for (std::size_t i = 1; i < ranked.size(); ++i) p.push_back(ranked[i].with_best->p);
  const auto adjusted = holm_adjusted(p);
  return std::any_of(adjusted.begin(), adjusted.end(), [](double value) { return value <= 0.05; });
}

void print_ranking(Bench& bench, const Shape& shape)
{
  auto parameters = shape.json();
  parameters["candidates"] = candidates;
  const auto excluded = [](const Ranked& row) { return !row.excluded_by.empty(); };
  bench.print("A/A ranking, a candidate is excluded", parameters, [&](Normal& n) {
    const auto ranked = ranking_of(n, shape, 0);
    return std::any_of(ranked.begin(), ranked.end(), excluded);
  });
  bench.print("A/A ranking, Holm for k - 1 comparisons only", parameters,
              [&](Normal& n) { return excludes_by_few_comparisons(ranking_of(n, shape, 0)); });
  parameters["difference"] = 0.10;
  bench.print("ranking, the best is excluded", parameters, [&](Normal& n) {
    const auto ranked = ranking_of(n, shape, 0.10);
    return std::any_of(ranked.begin(), ranked.end(), [&](const Ranked& row) { return row.name == "0" && excluded(row); });
  });
  bench.print("ranking, only the best is left", parameters, [&](Normal& n) {
    const auto ranked = ranking_of(n, shape, 0.10);
    return ranked.front().name == "0" && std::all_of(ranked.begin() + 1, ranked.end(), excluded);
  });
}

// Times to a target that each run misses with this probability.
std::vector<double> times(Normal& normal, std::size_t count, double misses)
{
  auto values = runs(normal, count, 100, 0.1);
  for (auto& value : values)
    if (normal.uniform() < misses) value = std::numeric_limits<double>::infinity();
  return values;
}

void print_targets(Bench& bench, std::size_t n)
{
  bench.print("A/A times to a target, false verdict", {{"n", n}, {"noise", 0.1}, {"misses", 0.2}}, [&](Normal& normal) {
    const auto a = times(normal, n, 0.2), b = times(normal, n, 0.2);
    return is_difference(compare_times_to_target(a, b, {}).verdict);
  });
  bench.print("power, times to a target", {{"n", n}, {"noise", 0.1}, {"misses", 0.1}, {"misses_of_the_other", 0.9}},
              [&](Normal& normal) {
                const auto a = times(normal, n, 0.1), b = times(normal, n, 0.9);
                return compare_times_to_target(a, b, {}).verdict == Verdict::faster;
              });
}

// Six candidates of one size: `leader` is better than the other five, which are equal, by this share.
struct RaceOutcome {
  bool is_wrong = false;     // the leader was dropped, or with a lead of 0 any candidate was
  bool finds_leader = false; // only the leader is left
  std::size_t runs = 0;      // of all candidates
};

RaceOutcome race_once(Normal& normal, double lead, const RaceRule& rule)
{
  std::vector<RacePoint> points(candidates);
  for (std::size_t i = 0; i < candidates; ++i) points[i] = {.label = std::to_string(i), .ranks = 4, .values = {}};
  while (true) {
    const auto race = race_of(points, rule);
    if (race.is_over) {
      RaceOutcome outcome;
      const auto is_dropped = [&](std::size_t i) { return race.standings[i].reason.starts_with("worse than"); };
      outcome.finds_leader = race.standings[0].reason.starts_with("the best of");
      for (std::size_t i = 0; i < candidates; ++i) {
        outcome.runs += points[i].values.size();
        if (is_dropped(i) && (i == 0 || lead == 0)) outcome.is_wrong = true;
      }
      return outcome;
    }
    for (std::size_t i = 0; i < candidates; ++i)
      while (static_cast<std::int64_t>(points[i].values.size()) < race.standings[i].repeats)
        points[i].values.emplace_back((i == 0 ? 1 + lead : 1) * std::exp(noise * normal()));
  }
}

// `sweep --until-decided` with its default rule: how often it is wrong, how often it finds the leader, and the repeats that it
// spends.
void print_races(int trials, std::uint64_t seed)
{
  const RaceRule rule;
  for (const double lead : {0.0, 0.02, 0.05, 0.10}) {
    Normal normal(sub_key(seed, static_cast<std::uint64_t>(1000 + std::lround(lead * 100))));
    int wrong = 0, found = 0;
    std::size_t runs = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto outcome = race_once(normal, lead, rule);
      wrong += outcome.is_wrong;
      found += outcome.finds_leader;
      runs += outcome.runs;
    }
    const Json line{{"case", "race of 6"},
                    {"lead", lead},
                    {"noise", noise},
                    {"trials", trials},
                    {"wrong", static_cast<double>(wrong) / trials},
                    {"finds_leader", static_cast<double>(found) / trials},
                    {"mean_runs_per_candidate", static_cast<double>(runs) / trials / static_cast<double>(candidates)}};
    std::puts(line.dump().c_str());
  }
}

} // namespace

int main(int argc, char** argv)
{
  CLI::App app("Shares of right and wrong verdicts in simulated studies");
  int trials = 100000;
  std::uint64_t seed = 1;
  app.add_option("--trials", trials, "simulated studies per case")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "of the random numbers")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  Bench bench(trials, seed);
  for (const std::size_t n : {3, 5, 10}) {
    for (const double ratio : {1.0, 4.0}) print_two_samples(bench, {n, ratio});
    for (const double ratio : {1.0, 4.0}) print_ranking(bench, {n, ratio});
    print_targets(bench, n);
  }
  print_races(std::min(trials, 10000), seed);
}
