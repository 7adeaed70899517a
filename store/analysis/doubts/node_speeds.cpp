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
  std::vector<NodeSpeed> speeds;
  for (auto& [name, node] : nodes) {
    if (node.runs > 0) node.throughput = std::exp(logarithms[name] / static_cast<double>(node.runs));
    speeds.push_back(node);
  }
  std::ranges::sort(speeds, {}, [](const NodeSpeed& node) { return natural_key(node.node); });
  for (auto& node : speeds) {
    std::vector<double> others;
    for (const auto& other : speeds)
      if (other.runs > 0 && &other != &node) others.push_back(other.throughput);
    if (others.empty()) continue;
    const auto tolerance = tolerance_of(others, least_slowness);
    node.deviation = node.throughput / tolerance.median - 1;
    node.is_slow = others.size() + 1 >= least_alike && node.throughput < tolerance.median - tolerance.limit;
  }
  return speeds;
}

} // namespace dt::store
