#include "store/analysis/doubts/node_speeds.hpp"

#include "core/natural_key.hpp"
#include "store/analysis/doubts/contamination.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace dt::store {
namespace {

constexpr double least_slowness = 0.05; // of the median

} // namespace

std::vector<NodeSpeed> node_speeds(std::span<const RunOnNode> runs)
{
  std::map<std::string, double> logarithms; // sums
  std::map<std::string, NodeSpeed> nodes;
  for (const auto& run : runs) {
    auto& node = nodes[run.node];
    node.node = run.node;
    if (!(run.throughput > 0)) continue;
    logarithms[run.node] += std::log(run.throughput);
    ++node.runs;
  }
  std::vector<double> known;
  for (auto& [name, node] : nodes)
    if (node.runs > 0) known.push_back(node.throughput = std::exp(logarithms[name] / static_cast<double>(node.runs)));
  std::vector<NodeSpeed> speeds;
  for (const auto& [name, node] : nodes) speeds.push_back(node);
  std::ranges::sort(speeds, {}, [](const NodeSpeed& node) { return natural_key(node.node); });
  if (known.empty()) return speeds;
  const auto tolerance = tolerance_of(known, least_slowness);
  for (auto& node : speeds) {
    node.deviation = node.throughput / tolerance.median - 1;
    node.is_slow = known.size() >= least_alike && node.throughput < tolerance.median - tolerance.limit;
  }
  return speeds;
}

} // namespace dt::store
