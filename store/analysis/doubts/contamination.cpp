#include "store/analysis/doubts/contamination.hpp"
#include "core/maths/statistics.hpp"

#include "store/analysis/statistics/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace dt::store {
namespace {

constexpr double least_deviation = 0.10; // relative to the median
constexpr double robust_sigmas = 3;
constexpr double sigma_per_mad = 1.4826; // for normally distributed values

// Root mean square of the repeats' relative deviations from the median of their point. Each point costs one degree of freedom.
double noise_of(std::span<const std::vector<double>> points)
{
  double squares = 0;
  std::size_t freedom = 0;
  for (const auto& point : points) {
    if (point.size() < 2) continue;
    const double middle = median(point);
    for (const auto value : point) squares += (value / middle - 1) * (value / middle - 1);
    freedom += point.size() - 1;
  }
  return freedom == 0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(squares / static_cast<double>(freedom));
}

struct SlowRanks {
  std::set<std::string> runs;
  std::vector<double> slower_by;
};

// Ranks that may be compared with each other, by host.
using RanksByHost = std::map<std::string, std::vector<const RankSpeed*>>;

std::vector<double> speeds_of(const RanksByHost& hosts, const std::function<bool(const std::string& host)>& wanted)
{
  std::vector<double> speeds;
  for (const auto& [host, ranks] : hosts)
    if (wanted(host))
      for (const auto* rank : ranks) speeds.push_back(rank->gemm_gflops);
  return speeds;
}

void flag_slow(const RanksByHost& hosts, std::map<std::string, SlowRanks>& slow)
{
  if (hosts.size() < least_alike) return;
  for (const auto& [host, ranks] : hosts) {
    const auto tolerance = tolerance_of(speeds_of(hosts, [&](const auto& other) { return other != host; }), least_deviation);
    const double limit = tolerance.median - tolerance.limit;
    if (median(speeds_of(hosts, [&](const auto& other) { return other == host; })) >= limit) continue;
    for (const auto* rank : ranks) {
      if (!rank->asked || rank->gemm_gflops >= limit) continue;
      slow[host].runs.insert(rank->run);
      slow[host].slower_by.push_back(1 - rank->gemm_gflops / tolerance.median);
    }
  }
}

} // namespace

Tolerance tolerance_of(const std::vector<double>& values, double least)
{
  const double middle = median(values);
  std::vector<double> deviations;
  for (const auto value : values) deviations.push_back(std::abs(value - middle));
  return {middle, std::max(least * middle, robust_sigmas * sigma_per_mad * median(deviations))};
}

Drift drift_of_controls(std::span<const double> controls, std::span<const std::vector<double>> points)
{
  Drift drift;
  drift.controls = controls.size();
  drift.first = controls.front();
  drift.last = controls.back();
  drift.change = drift.last / drift.first - 1;
  const auto [least, most] = std::minmax_element(controls.begin(), controls.end());
  drift.spread = (*most - *least) / median({controls.begin(), controls.end()});
  drift.noise = noise_of(points);
  drift.beyond_noise = std::abs(drift.change) > 2 * std::sqrt(2.0) * drift.noise; // false if the noise is NaN
  return drift;
}

std::vector<Outlier> slow_hosts(std::span<const RankSpeed> ranks)
{
  std::map<std::tuple<std::string, std::int64_t>, RanksByHost> groups;
  for (const auto& rank : ranks)
    if (rank.gemm_gflops > 0) groups[{rank.cpu_model, rank.threads}][rank.host].push_back(&rank);
  std::map<std::string, SlowRanks> hosts;
  for (const auto& [shape, alike] : groups) flag_slow(alike, hosts);
  std::vector<Outlier> outliers;
  for (const auto& [host, slow] : hosts)
    outliers.push_back({Outlier::Kind::matrix_product,
                        host,
                        {slow.runs.begin(), slow.runs.end()},
                        slow.slower_by.size(),
                        median(slow.slower_by)});
  return outliers;
}

std::vector<Outlier> slow_allreduces(std::span<const AllreduceTime> times)
{
  using Shape = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Shape, std::vector<const AllreduceTime*>> groups;
  for (const auto& time : times)
    if (time.seconds > 0 && time.nodes > 1)
      groups[{time.cpu_model, time.nodes, time.ranks, time.threads, time.bytes}].push_back(&time);
  std::vector<Outlier> outliers;
  for (const auto& [shape, alike] : groups) {
    if (alike.size() < least_alike) continue;
    std::vector<double> seconds;
    for (const auto* time : alike) seconds.push_back(time->seconds);
    const auto tolerance = tolerance_of(seconds, least_deviation);
    for (const auto* time : alike)
      if (time->asked && time->seconds > tolerance.median + tolerance.limit)
        outliers.push_back({Outlier::Kind::allreduce, "", {time->run}, 0, time->seconds / tolerance.median - 1});
  }
  std::sort(outliers.begin(), outliers.end(), [](const Outlier& a, const Outlier& b) { return a.runs < b.runs; });
  return outliers;
}

} // namespace dt::store
