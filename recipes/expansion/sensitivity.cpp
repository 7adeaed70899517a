#include "recipes/expansion/sensitivity.hpp"

#include "core/spec/point_label.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace dt::recipes {
namespace {

struct Figure {
  std::string_view key;
  double& (*of)(RunSpec& run);
};

constexpr std::array figures{
    Figure{"platform.bandwidth", [](RunSpec& run) -> double& { return run.platform.bandwidth; }},
    Figure{"platform.latency", [](RunSpec& run) -> double& { return run.platform.latency_s; }},
    Figure{"platform.message_time", [](RunSpec& run) -> double& { return run.platform.message_time_s; }},
    Figure{"platform.trunk_share", [](RunSpec& run) -> double& { return run.platform.trunk_share; }},
    Figure{"platform.trunk_latency", [](RunSpec& run) -> double& { return run.platform.trunk_latency_s; }},
    Figure{"platform.memory_bandwidth", [](RunSpec& run) -> double& { return run.platform.memory_bandwidth; }},
    Figure{"train.modelled_rate", [](RunSpec& run) -> double& { return run.train.modelled_rate; }},
    Figure{"train.modelled_step_spread", [](RunSpec& run) -> double& { return run.train.modelled_step_spread; }},
    Figure{"train.modelled_node_spread", [](RunSpec& run) -> double& { return run.train.modelled_node_spread; }},
};

// Adds the run with the figure changed, unless that changes nothing.
void add_varied(const RunSpec& run, const Figure& figure, double change, std::vector<RunSpec>& varied)
{
  auto other = run;
  auto& value = figure.of(other);
  const double before = value;
  value *= 1 + change;
  if (figure.key == "platform.trunk_share") value = std::min(value, 1.0);
  if (value == before || (figure.key.starts_with("platform.trunk_") && run.platform.nodes_per_supernode == 0)) return;
  other.control = true;
  other.label += " " + varied_word(figure.key, change);
  varied.push_back(std::move(other));
}

} // namespace

std::vector<RunSpec> varied_runs(const std::vector<RunSpec>& runs)
{
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sizes; // smallest and largest, by label
  for (const auto& run : runs) {
    auto& [least, most] = sizes.try_emplace(run.label, run.ranks(), run.ranks()).first->second;
    least = std::min(least, run.ranks());
    most = std::max(most, run.ranks());
  }
  std::vector<RunSpec> varied;
  for (const auto& run : runs) {
    const auto [least, most] = sizes.at(run.label);
    if (run.study.sensitivity <= 0 || (run.ranks() != least && run.ranks() != most)) continue;
    for (const auto& figure : figures)
      for (const double sign : {-1.0, 1.0}) add_varied(run, figure, sign * run.study.sensitivity, varied);
  }
  return varied;
}

} // namespace dt::recipes
