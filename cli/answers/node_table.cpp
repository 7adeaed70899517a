#include "cli/answers/node_table.hpp"

#include "cli/output/number_text.hpp"
#include "cli/output/table_column.hpp"
#include "core/counted.hpp"
#include "core/spec/point_label.hpp"
#include "core/text.hpp"
#include "store/analysis/doubts/node_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// The node of a label "nodelist=node7"; empty if the label says something else.
std::string node_of(const store::RunRow& run)
{
  const auto words = label_words(run.label);
  return words.size() == 1 && words.front().key == "nodelist" ? words.front().value : std::string();
}

std::vector<store::NodeSpeed> speeds_of(const std::vector<store::RunRow>& runs)
{
  std::vector<store::RunOnNode> on_nodes;
  for (const auto& run : runs)
    on_nodes.push_back({node_of(run), run.state == RunState::succeeded ? run.figure("throughput") : not_measured});
  return store::node_speeds(on_nodes);
}

Cell deviation_cell(const store::NodeSpeed& node)
{
  if (!std::isfinite(node.deviation)) return real_cell(node.deviation);
  return {node.deviation, percent_change(node.deviation), node.is_slow ? Style::bad : Style::plain};
}

Table node_table(const std::vector<store::NodeSpeed>& speeds)
{
  const std::vector<TableColumn<store::NodeSpeed>> columns{
      {{"node", "node"}, [](const store::NodeSpeed& node) { return text_cell(node.node); }},
      {{"runs", "runs", Align::right},
       [](const store::NodeSpeed& node) { return count_cell(static_cast<std::int64_t>(node.runs)); }},
      {{"throughput", "samples/s", Align::right}, [](const store::NodeSpeed& node) { return real_cell(node.throughput); }},
      {{"deviation", "from the others", Align::right}, deviation_cell},
      {{"is_slow", ""}, [](const store::NodeSpeed& node) { return data_cell(node.is_slow); }},
  };
  return table_of("nodes", columns, speeds, std::identity(), "no runs");
}

} // namespace

bool is_distribution(const std::vector<store::RunRow>& runs)
{
  return !runs.empty() && std::ranges::none_of(runs, [](const store::RunRow& run) { return node_of(run).empty(); });
}

void print_nodes(Context& context, const std::vector<store::RunRow>& runs)
{
  const auto speeds = speeds_of(runs);
  context.out.table(node_table(speeds));
  std::vector<std::string> slow, silent;
  bool by_one_run = false; // a slow node was measured once
  for (const auto& node : speeds) {
    if (node.runs == 0) silent.push_back(node.node);
    if (!node.is_slow) continue;
    slow.push_back(node.node);
    by_one_run = by_one_run || node.runs == 1;
    context.out.field(
        "", "slow node",
        text_cell(fmt::format("{} is {:.0f} % slower than the median of the others", node.node, -100 * node.deviation),
                  Style::bad));
  }
  if (!silent.empty()) context.out.field("", "no result", text_cell(join(silent, ", "), Style::warning));
  const auto line = slow.empty() ? std::string() : fmt::format("resources: {{exclude: [{}]}}", join(slow, ", "));
  context.out.data("exclude", Json(slow));
  if (!line.empty()) context.out.field("", "leave out", text_cell(line));
  if (by_one_run)
    context.out.field("", "first",
                      text_cell("measure again: one run may be slow by chance (the same command with --set study.repeats=3)"));
}

} // namespace dt::cli
