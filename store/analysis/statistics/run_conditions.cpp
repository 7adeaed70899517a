#include "store/analysis/statistics/run_conditions.hpp"

#include "core/maths/random.hpp"
#include "core/maths/statistics.hpp"
#include "store/analysis/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace dt::store {
namespace {

// A run with a throughput: its index and the logarithm.
struct LogSpeed {
  std::size_t run;
  double log;
};

// The measured runs of each point.
std::vector<std::vector<LogSpeed>> by_point(std::span<const SpeedRun> runs, const std::vector<bool>& left_out)
{
  std::map<std::size_t, std::vector<LogSpeed>> points;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].throughput > 0 && std::isfinite(runs[i].throughput) && (left_out.empty() || !left_out[i]))
      points[runs[i].point].push_back({i, std::log(runs[i].throughput)});
  std::vector<std::vector<LogSpeed>> all;
  for (auto& [point, of_point] : points) all.push_back(std::move(of_point));
  return all;
}

// Standard deviation of a run. NaN with fewer than 6 differences.
double robust_deviation(const std::vector<std::vector<LogSpeed>>& points)
{
  constexpr std::size_t least_differences = 6, most_differences = 200000;
  constexpr double median_of_normal = 0.954;
  std::vector<double> differences;
  for (const auto& point : points)
    for (std::size_t i = 0; i < point.size() && point.size() > 2 && differences.size() < most_differences; ++i)
      for (std::size_t j = 0; j < i; ++j) differences.push_back(std::abs(point[i].log - point[j].log));
  return differences.size() < least_differences ? std::nan("") : median(differences) / median_of_normal;
}

// The position in `point` of a run that is far from the others; nothing if there is none.
std::optional<std::size_t> outlier_of(const std::vector<LogSpeed>& point, double deviation, double least_distance)
{
  std::optional<std::size_t> farthest;
  double most = 0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    std::vector<double> others;
    for (std::size_t j = 0; j < point.size(); ++j)
      if (j != i) others.push_back(point[j].log);
    const auto [low, high] = std::minmax_element(others.begin(), others.end());
    const double distance = std::abs(point[i].log - median(others));
    if (distance > std::max({8 * deviation, 5 * (*high - *low), least_distance}) && distance > most)
      farthest = i, most = distance;
  }
  return farthest;
}

// The ranks of values, from 0; equal ones share their mean.
std::vector<double> ranks_of(const std::vector<double>& values)
{
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    auto end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (auto i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

// Sums of products of the distances from the means.
struct Products {
  double xx = 0, xy = 0, yy = 0;
};

Products products_of(const std::vector<double>& x, const std::vector<double>& y)
{
  const auto count = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / count,
               mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  Products sums;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums.xx += (x[i] - mean_x) * (x[i] - mean_x);
    sums.xy += (x[i] - mean_x) * (y[i] - mean_y);
    sums.yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return sums;
}

double squares_of(std::span<const double> values)
{
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

// The split of a point's values into a slow and a fast group that leaves the least squares.
struct Split {
  double within = 0, total = 0, gap = 0; // sums of squares; difference of the groups' means
  std::size_t slow = 0;
};

Split split_of(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  const std::span<const double> all(values);
  Split best{.within = std::numeric_limits<double>::infinity(), .total = squares_of(all)};
  for (std::size_t slow = 1; slow < values.size(); ++slow) {
    const auto low = all.first(slow), high = all.subspan(slow);
    const double within = squares_of(low) + squares_of(high);
    if (within >= best.within) continue;
    best.within = within;
    best.slow = slow;
    best.gap = std::accumulate(high.begin(), high.end(), 0.0) / static_cast<double>(high.size()) -
               std::accumulate(low.begin(), low.end(), 0.0) / static_cast<double>(low.size());
  }
  return best;
}

double share_within(const std::vector<Split>& splits)
{
  double within = 0, total = 0;
  for (const auto& split : splits) within += split.within, total += split.total;
  return within / total;
}

} // namespace

bool are_in_rounds(std::span<const SpeedRun> runs)
{
  std::vector<double> begins, repeats;
  for (const auto& run : runs) {
    if (!(run.throughput > 0)) continue;
    if (!(run.begin_unix_s > 0)) return false;
    begins.push_back(run.begin_unix_s);
    repeats.push_back(static_cast<double>(run.repeat));
  }
  if (begins.empty()) return false;
  const auto sums = products_of(ranks_of(begins), ranks_of(repeats));
  constexpr double least_correlation = 0.75;
  return sums.xx > 0 && sums.yy > 0 && sums.xy >= least_correlation * std::sqrt(sums.xx * sums.yy);
}

std::string round_name(const std::string& study, std::int64_t repeat) { return study + " round " + std::to_string(repeat + 1); }

bool is_round_name(const std::string& block) { return block.find("round ") != std::string::npos; }

std::optional<double> rounding_of(std::span<const SpeedRun> runs)
{
  constexpr std::size_t least = 4;
  constexpr double most_units = 4; // between the slowest and the fastest run of a point: beyond, rounding hides little
  const auto points = by_point(runs, {});
  std::vector<double> all;
  double widest = 0;
  for (const auto& point : points) {
    std::vector<double> values;
    for (const auto& run : point) values.push_back(runs[run.run].throughput);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    widest = std::max(widest, *high - *low);
    all.insert(all.end(), values.begin(), values.end());
  }
  if (all.size() < least) return std::nullopt;
  const auto are_multiples = [&](double unit) {
    return std::ranges::all_of(all, [&](double value) {
      const double units = value / unit;
      return units >= 1 && std::abs(units - std::round(units)) < 1e-6 && units < 1e6;
    });
  };
  for (double unit = 1e6; unit > 1e-5; unit /= 10)
    if (are_multiples(unit)) return widest <= most_units * unit * (1 + 1e-6) && widest > 0 ? std::optional(unit) : std::nullopt;
  return std::nullopt;
}

std::vector<bool> outlying_runs(std::span<const SpeedRun> runs)
{
  auto points = by_point(runs, {});
  const double deviation = robust_deviation(points);
  std::vector<bool> outlying(runs.size());
  if (std::isnan(deviation)) return outlying;
  std::size_t found = 0, measured = 0;
  const double unit = rounding_of(runs).value_or(0);
  for (auto& point : points) {
    measured += point.size();
    const double least_distance = std::max(0.02, point.empty() ? 0 : std::log1p(2.01 * unit / std::exp(point.front().log)));
    for (auto left = point.size() / 3; left > 0; --left) {
      const auto at = outlier_of(point, deviation, least_distance);
      if (!at) break;
      outlying[point[*at].run] = true;
      ++found;
      point.erase(point.begin() + static_cast<std::ptrdiff_t>(*at));
    }
  }
  constexpr std::size_t least_part = 10; // a tenth of the runs
  if (found > 1 && found * least_part > measured) outlying.assign(runs.size(), false);
  return outlying;
}

std::optional<Trend> trend_of(std::span<const SpeedRun> runs, const std::vector<bool>& left_out)
{
  constexpr std::size_t least = 6;
  std::vector<double> begins;
  for (const auto& run : runs) {
    if (run.throughput > 0 && !(run.begin_unix_s > 0)) return std::nullopt;
    begins.push_back(run.begin_unix_s > 0 ? run.begin_unix_s : 0);
  }
  const auto places = ranks_of(begins);
  Products sums;
  std::size_t used = 0, used_points = 0;
  for (const auto& point : by_point(runs, left_out)) {
    if (point.size() < 2) continue;
    std::vector<double> x, y;
    for (const auto& [run, log] : point) x.push_back(places[run]), y.push_back(log);
    const auto own = products_of(x, y);
    sums = {sums.xx + own.xx, sums.xy + own.xy, sums.yy + own.yy};
    used += point.size();
    ++used_points;
  }
  const double freedom = static_cast<double>(used) - static_cast<double>(used_points) - 1;
  if (used < least || freedom < 2 || !(sums.xx > 0)) return std::nullopt;
  const double slope = sums.xy / sums.xx, residual = std::max(0.0, sums.yy - slope * sums.xy);
  const double error = std::sqrt(residual / freedom / sums.xx);
  const Trend trend{.change = std::expm1(slope * static_cast<double>(runs.size() - 1)),
                    .p = error > 0 ? student_t_two_sided_p(slope / error, freedom) : 1};
  constexpr double level = 0.01;
  return trend.p <= level ? std::optional(trend) : std::nullopt;
}

std::optional<TwoSpeeds> two_speeds_of(std::span<const SpeedRun> runs, const std::vector<bool>& left_out)
{
  constexpr std::size_t least = 9, most_points = 100;
  constexpr int samples = 999;
  constexpr double level = 0.01, most_ratio = 0.99, least_share = 0.2;
  if (rounding_of(runs)) return std::nullopt;
  std::vector<Split> splits;
  std::vector<std::size_t> sizes, numbers;
  double widest = 0;
  TwoSpeeds speeds;
  for (const auto& point : by_point(runs, left_out)) {
    if (point.size() < 3 || splits.size() == most_points) continue;
    std::vector<double> logs;
    for (const auto& run : point) logs.push_back(run.log);
    splits.push_back(split_of(logs));
    sizes.push_back(point.size());
    numbers.push_back(runs[point.front().run].point);
    speeds.of += point.size();
    widest = std::max(widest, splits.back().gap);
  }
  const double share = share_within(splits); // NaN if nothing scatters
  if (speeds.of < least || std::isnan(share)) return std::nullopt;
  std::size_t split_points = 0, split_runs = 0;
  double gaps = 0;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].gap < widest / 2) continue;
    speeds.slow += splits[i].slow;
    speeds.point = split_points == 0 ? std::optional(numbers[i]) : std::nullopt;
    split_runs += sizes[i];
    gaps += splits[i].gap;
    ++split_points;
  }
  speeds.ratio = std::exp(-gaps / static_cast<double>(split_points));
  const auto smaller = static_cast<double>(std::min(speeds.slow, split_runs - speeds.slow));
  if (speeds.ratio > most_ratio || smaller < least_share * static_cast<double>(split_runs)) return std::nullopt;
  Random random(1);
  int as_clear = 1;
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<Split> normal;
    for (const auto size : sizes) {
      std::vector<double> values(size);
      for (auto& value : values) value = random.normal();
      normal.push_back(split_of(std::move(values)));
    }
    as_clear += share_within(normal) <= share ? 1 : 0;
    if (as_clear > level * (samples + 1)) return std::nullopt;
  }
  speeds.p = as_clear / static_cast<double>(samples + 1);
  return speeds;
}

void judge_conditions(std::span<Run* const> runs, const std::string& study)
{
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::size_t> points;
  std::vector<SpeedRun> speeds;
  for (const auto* run : runs) {
    const auto point = points.try_emplace({run->series, run->nodes, run->ranks}, points.size()).first->second;
    const bool counts = run->succeeded && !run->is_exact;
    speeds.push_back({point, run->repeat, run->begin_unix_s, counts ? run->throughput : not_measured});
  }
  const auto outlying = outlying_runs(speeds);
  const bool in_rounds = are_in_rounds(speeds);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i]->is_outlying = outlying[i];
    if (in_rounds && runs[i]->block.empty()) runs[i]->block = round_name(study, runs[i]->repeat);
  }
}

} // namespace dt::store
