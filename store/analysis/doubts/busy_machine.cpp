#include "store/analysis/doubts/busy_machine.hpp"

#include "store/analysis/doubts/contamination.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {
namespace {

constexpr double least_others_share = 0.10, least_steal_share = 0.05, least_probe_slowness = 0.25, least_spread_ratio = 2;

// Values of comparable runs; the key describes what they have in common.
using Alike = std::map<std::string, std::vector<double>>;

Alike probes_by_host(std::span<const RunConditions> runs)
{
  Alike alike;
  for (const auto& run : runs)
    for (const auto& [host, gflops] : run.probes) alike[host].push_back(gflops);
  return alike;
}

Alike spreads_by_point(std::span<const RunConditions> runs)
{
  Alike alike;
  for (const auto& run : runs)
    if (run.step_spread > 0) alike[run.point].push_back(run.step_spread);
  return alike;
}

void look_at_loads(const RunConditions& run, BusyRun& found)
{
  for (const auto& node : run.nodes) {
    if (node.others_share >= least_others_share) found.others_share = std::max(found.others_share, node.others_share);
    if (node.steal_share >= least_steal_share) found.steal_share = std::max(found.steal_share, node.steal_share);
    const double load = std::fmax(node.load_begin, node.load_end);
    const bool crowded = std::isnan(node.others_share) && load > 1.5 * static_cast<double>(node.cores) + 1;
    if (crowded && load > found.load) found.load = load, found.cores = node.cores;
  }
}

ThrottledRun throttling_of(const RunConditions& run)
{
  ThrottledRun found{.run = run.run};
  for (const auto& node : run.nodes)
    if (node.throttled_share > found.share) found.share = node.throttled_share, found.quota_cores = node.quota_cores;
  return found;
}

bool is_throttled(const RunConditions& run) { return throttling_of(run).share >= least_throttled_share; }

void look_at_probes(const RunConditions& run, const Alike& by_host, BusyRun& found)
{
  for (const auto& [host, gflops] : run.probes) {
    const auto& alike = by_host.at(host);
    if (alike.size() < least_alike) continue;
    const auto tolerance = tolerance_of(alike, least_probe_slowness);
    if (gflops < tolerance.median - tolerance.limit)
      found.probe_slower_by = std::max(found.probe_slower_by, 1 - gflops / tolerance.median);
  }
}

void look_at_spread(const RunConditions& run, const Alike& by_point, BusyRun& found)
{
  if (!(run.step_spread > 0)) return;
  const auto& alike = by_point.at(run.point);
  if (alike.size() < least_alike) return;
  const double ratio = run.step_spread / tolerance_of(alike, 0).median;
  if (ratio >= least_spread_ratio) found.step_spread_ratio = ratio;
}

bool has_reason(const BusyRun& run)
{
  return run.others_share > 0 || run.steal_share > 0 || run.load > 0 || run.probe_slower_by > 0 || run.step_spread_ratio > 0;
}

} // namespace

std::vector<BusyRun> busy_runs(std::span<const RunConditions> runs)
{
  const auto by_host = probes_by_host(runs), by_point = spreads_by_point(runs);
  std::vector<BusyRun> busy;
  for (const auto& run : runs) {
    if (!run.asked) continue;
    BusyRun found{.run = run.run};
    look_at_loads(run, found);
    if (!is_throttled(run)) {
      look_at_probes(run, by_host, found);
      look_at_spread(run, by_point, found);
    }
    if (has_reason(found)) busy.push_back(found);
  }
  return busy;
}

std::vector<ThrottledRun> throttled_runs(std::span<const RunConditions> runs)
{
  std::vector<ThrottledRun> throttled;
  for (const auto& run : runs)
    if (run.asked && is_throttled(run)) throttled.push_back(throttling_of(run));
  return throttled;
}

} // namespace dt::store
