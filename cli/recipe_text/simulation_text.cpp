#include "cli/recipe_text/simulation_text.hpp"

#include "cli/recipe_text/commented_text.hpp"
#include "cli/recipe_text/yaml_scalar.hpp"
#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/number.hpp"
#include "core/spec/names.hpp"
#include "core/spec/run_spec.hpp"
#include "core/spec/strategy_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::cli {
namespace {

constexpr std::int64_t most_nodes_with_ring = 16;

SimulatedStrategy parse_strategy(const std::string& word)
{
  const auto parts = split(word, ':');
  SimulatedStrategy strategy{.name = parts.front()};
  if (!contains(strategy_names(), strategy.name))
    throw Error(ErrorKind::usage, "--strategy: " + unknown_name("strategy", strategy.name, strings_of(strategy_names())));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    const auto key = parts[i].substr(0, equals);
    if (equals == std::string::npos || !reads(strategy.name, "sync." + key))
      throw Error(ErrorKind::usage,
                  fmt::format("--strategy {}: \"{}\" is no value of a key that {} reads. Example: {}:period=32", printable(word),
                              printable(parts[i]), strategy.name, strategy.name == "sync-sgd" ? "local-sgd" : strategy.name));
    strategy.values.emplace_back(key, parts[i].substr(equals + 1));
  }
  return strategy;
}

[[noreturn]] void refuse_nodes(std::string_view text)
{
  throw Error(ErrorKind::usage, fmt::format("--nodes {}: give numbers of nodes, such as 1,4,16, or a range by doubling, 1..1024",
                                            printable(std::string(text))));
}

std::int64_t node_count(std::string_view word, std::string_view text)
{
  const auto count = number_of<std::int64_t>(word).value_or(0);
  if (count < 1 || count > 1'000'000) refuse_nodes(text);
  return count;
}

// Steps from one exchange to the next.
std::int64_t period_of(const SimulatedStrategy& strategy)
{
  const SyncSpec defaults;
  std::int64_t period = reads(strategy.name, "sync.node_period") ? defaults.node_period
                        : reads(strategy.name, "sync.period")    ? defaults.period
                                                                 : 1;
  for (const auto& [key, value] : strategy.values)
    if (key == "period" || key == "node_period") period = std::max<std::int64_t>(1, number_of<std::int64_t>(value).value_or(1));
  return period;
}

// A number as it is: in quotes it would be a text.
std::string value_of_key(const std::string& value) { return number_of<double>(value) ? value : yaml_scalar(value); }

std::string point_of(const SimulatedStrategy& strategy, const std::string& allreduce)
{
  std::string point = "{ sync.strategy: " + strategy.name;
  const auto has = [&](std::string_view key) {
    return std::ranges::any_of(strategy.values, [&](auto& v) { return v.first == key; });
  };
  if (reads(strategy.name, "sync.allreduce") && !has("allreduce")) point += ", sync.allreduce: " + allreduce;
  for (const auto& [key, value] : strategy.values) point += fmt::format(", sync.{}: {}", key, value_of_key(value));
  return point + " }";
}

} // namespace

std::vector<SimulatedStrategy> parse_simulated_strategies(std::string_view text)
{
  std::vector<SimulatedStrategy> strategies;
  for (const auto& word : split(text, ',')) strategies.push_back(parse_strategy(word));
  return strategies;
}

std::vector<std::int64_t> parse_node_counts(std::string_view text)
{
  std::vector<std::int64_t> nodes;
  if (const auto dots = text.find(".."); dots != text.npos) {
    const auto last = node_count(text.substr(dots + 2), text);
    auto count = node_count(text.substr(0, dots), text);
    if (count > last) refuse_nodes(text);
    for (; count < last; count *= 2) nodes.push_back(count);
    nodes.push_back(last);
    return nodes;
  }
  for (const auto& word : split(text, ',')) nodes.push_back(node_count(word, text));
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::string simulation_recipe(const SimulationChoices& choices)
{
  std::int64_t period = 4;
  for (const auto& strategy : choices.strategies) period = std::max(period, period_of(strategy));
  const auto allreduce = choices.nodes.back() > most_nodes_with_ring ? "topology-aware" : "ring";
  Text text;
  text.comment(
      fmt::format("What would {} do on {} under these strategies? Written by dtctl simulate from the run's compute profile.",
                  choices.program, choices.platform));
  text.line("version: 1");
  text.line("name: " + yaml_scalar(choices.name));
  text.line("train:");
  text.line("compute_profile: " + yaml_scalar(choices.profile.string()), 2);
  text.line(choices.batch_per_rank > 0 ? fmt::format("batch_per_rank: {}", choices.batch_per_rank)
                                       : fmt::format("global_batch: {}", choices.global_batch),
            2);
  text.line(fmt::format("steps: {}", 5 * period), 2);
  text.line(fmt::format("warmup_steps: {}", period), 2);
  text.line("eval_every_epochs: 0", 2);
  text.line("resources:");
  text.line("platform: " + yaml_scalar(choices.platform), 2);
  text.line(fmt::format("ranks_per_node: {}", choices.ranks_per_node), 2);
  text.line(fmt::format("threads_per_rank: {}", choices.threads_per_rank), 2);
  text.line(fmt::format("study: {{ mode: {}, nodes: [{}], repeats: 3 }}", choices.batch_per_rank > 0 ? "weak" : "strong",
                        fmt::join(choices.nodes, ", ")));
  text.line("sweep:");
  text.line("include:", 2);
  for (const auto& strategy : choices.strategies) text.line("- " + point_of(strategy, allreduce), 4);
  return text.take();
}

} // namespace dt::cli
