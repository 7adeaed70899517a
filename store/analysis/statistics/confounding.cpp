#include "store/analysis/statistics/confounding.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace dt::store {
namespace {

constexpr double least_overlap = 0.5;

// The shares of the runs' nodes. Empty if those of a run are not known.
std::map<std::string, double> shares_of_nodes(std::span<const Occasion> runs)
{
  std::map<std::string, double> shares;
  double all = 0;
  for (const auto& run : runs) {
    if (run.nodes.empty()) return {};
    all += static_cast<double>(run.nodes.size());
  }
  for (const auto& run : runs)
    for (const auto& node : run.nodes) shares[node] += 1 / all;
  return shares;
}

bool have_equally_many_nodes(std::span<const Occasion> a, std::span<const Occasion> b)
{
  const auto has_as_many = [&](const Occasion& run) { return run.nodes.size() == a.front().nodes.size(); };
  return std::all_of(a.begin(), a.end(), has_as_many) && std::all_of(b.begin(), b.end(), has_as_many);
}

bool have_other_nodes(std::span<const Occasion> a, std::span<const Occasion> b)
{
  const auto shares = shares_of_nodes(a), others = shares_of_nodes(b);
  if (shares.empty() || others.empty()) return false;
  double overlap = 0;
  for (const auto& [node, share] : shares)
    if (const auto found = others.find(node); found != others.end()) overlap += std::min(share, found->second);
  constexpr double rounding = 1e-9;
  return overlap <= 0 || (have_equally_many_nodes(a, b) && overlap < least_overlap - rounding);
}

std::multiset<std::string> blocks_of(std::span<const Occasion> runs)
{
  std::multiset<std::string> blocks;
  for (const auto& run : runs)
    if (!run.block.empty()) blocks.insert(run.block);
  return blocks;
}

bool have_common_rounds(std::span<const Occasion> a, std::span<const Occasion> b)
{
  const auto ours = blocks_of(a), theirs = blocks_of(b);
  std::vector<std::string> common;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
  return 3 * common.size() >= 2 * std::min(a.size(), b.size());
}

bool are_in_turn(std::span<const Occasion> a, std::span<const Occasion> b)
{
  std::vector<std::pair<double, bool>> order; // begin, and whether it is of A
  for (const auto& run : a) order.emplace_back(run.begin_unix_s, true);
  for (const auto& run : b) order.emplace_back(run.begin_unix_s, false);
  if (std::any_of(order.begin(), order.end(), [](const auto& run) { return std::isnan(run.first); })) return true; // not known
  std::stable_sort(order.begin(), order.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
  std::size_t changes = 0;
  for (std::size_t i = 1; i < order.size(); ++i) changes += order[i].second != order[i - 1].second ? 1 : 0;
  return changes >= std::min(a.size(), b.size());
}

} // namespace

Confounded confounding_of(std::span<const Occasion> a, std::span<const Occasion> b)
{
  if (a.empty() || b.empty()) return Confounded::no;
  if (have_other_nodes(a, b)) return Confounded::by_nodes;
  return have_common_rounds(a, b) || are_in_turn(a, b) ? Confounded::no : Confounded::by_time;
}

} // namespace dt::store
