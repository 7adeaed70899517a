#include "core/spec/strategy_table.hpp"

#include "core/spec/run_spec.hpp"

#include <algorithm>
#include <vector>

namespace dt {
namespace {

constexpr std::string_view workers_plain = "its workers apply plain SGD",
                           workers_momentum = "its workers apply SGD with momentum";
constexpr std::string_view servers_plain = "its servers apply plain SGD",
                           servers_momentum = "its servers apply SGD with momentum";
constexpr std::string_view to_measgd = "async-measgd, the EASGD form whose workers have momentum";
constexpr std::string_view to_msgd = "async-msgd, whose servers keep a velocity";

constexpr std::array strategies{
    StrategyRow{
        .name = {"sync-sgd",
                 "synchronous SGD: every step, all ranks, allreduce of the gradient mean; equals one rank with the whole batch"},
        .may_overlap = true,
        .keeps_equal = true,
        .other_keys = {"sync.allreduce", "sync.wire"}},
    StrategyRow{.name = {"hsgd", "sync-sgd in two levels: inside a node through shared memory, then between nodes, or only every "
                                 "`node_period` steps"},
                .may_overlap = true,
                .keeps_equal = true,
                .allreduce = "hierarchical",
                .other_keys = {"sync.node_period"}},
    StrategyRow{
        .name = {"local-sgd",
                 "every rank on its own; every `period` steps the mean of the weights, after `local_start` epochs of sync-sgd"},
        .other_keys = {"sync.allreduce", "sync.period", "sync.local_start"}},
    StrategyRow{.name = {"diloco",
                         "every rank on its own; every `period` steps an outer optimizer moves the common weights by the mean "
                         "of what the ranks did; with `outer.fragments` a part of the model at a time"},
                .has_outer_rule = true,
                .other_keys = {"sync.allreduce", "sync.period", "sync.progress", "sync.wire"}},
    StrategyRow{
        .name = {"sync-easgd",
                 "elastic averaging with all workers at once, deterministic; `overlap` 1, 2 or 3 is the form of its paper"},
        .is_elastic = true,
        .may_overlap = true,
        .other_keys = {"sync.allreduce", "sync.overlap"},
        .rule = UpdateRule::plain,
        .reason = workers_plain,
        .remedy = to_measgd},
    StrategyRow{.name = {"decentralized-easgd",
                         "elastic averaging without a server: every rank has the centre; every `period` steps one allreduce"},
                .is_elastic = true,
                .other_keys = {"sync.allreduce", "sync.wire"},
                .rule = UpdateRule::plain,
                .reason = workers_plain,
                .remedy = to_measgd},
    StrategyRow{.name = {"async-sgd", "parameter servers apply each worker's gradient as it comes, and answer with the weights"},
                .has_servers = true,
                .is_asynchronous = true,
                .rule = UpdateRule::plain,
                .reason = servers_plain,
                .remedy = to_msgd},
    StrategyRow{.name = {"async-msgd", "as async-sgd, with the momentum kept on the servers"},
                .has_servers = true,
                .is_asynchronous = true,
                .rule = UpdateRule::momentum,
                .reason = servers_momentum,
                .remedy = "async-sgd"},
    StrategyRow{
        .name =
            {"hogwild-sgd",
             "as async-sgd, without a lock on the weights: several threads of a server, or all workers of a node in one window"},
        .has_servers = true,
        .is_lock_free = true,
        .is_asynchronous = true,
        .rule = UpdateRule::plain,
        .reason = "its servers apply plain SGD without a lock, which a velocity would not survive",
        .remedy = to_msgd},
    StrategyRow{.name = {"easgd", "elastic averaging: every `period` steps a server pulls a worker to the centre and the centre "
                                  "to it; workers in turn"},
                .has_servers = true,
                .is_elastic = true,
                .is_asynchronous = true,
                .serves_in_turn = true,
                .rule = UpdateRule::plain,
                .reason = workers_plain,
                .remedy = to_measgd},
    StrategyRow{.name = {"async-easgd", "as easgd, whoever comes first"},
                .has_servers = true,
                .is_elastic = true,
                .is_asynchronous = true,
                .rule = UpdateRule::plain,
                .reason = workers_plain,
                .remedy = to_measgd},
    StrategyRow{.name = {"async-measgd", "as async-easgd, with momentum on the workers"},
                .has_servers = true,
                .is_elastic = true,
                .is_asynchronous = true,
                .rule = UpdateRule::momentum,
                .reason = workers_momentum,
                .remedy = "async-easgd"},
    StrategyRow{
        .name =
            {"hogwild-easgd",
             "as async-easgd, without a lock on the centre: several threads of a server, or all workers of a node in one window"},
        .has_servers = true,
        .is_lock_free = true,
        .is_elastic = true,
        .is_asynchronous = true,
        .rule = UpdateRule::plain,
        .reason = workers_plain,
        .remedy = to_measgd},
};

constexpr StrategyRow unknown_strategy{};

// The keys that every strategy with a property reads.
struct Implied {
  bool StrategyRow::*property;
  std::string_view strategies; // in words; empty: they are listed
  std::array<std::string_view, 8> keys;
};

constexpr std::array implied{
    Implied{&StrategyRow::has_servers, "strategies with a parameter server", {"sync.servers", "sync.server_placement"}},
    Implied{&StrategyRow::is_lock_free, "", {"sync.server_threads"}},
    Implied{&StrategyRow::is_elastic, "the EASGD family", {"sync.period", "sync.alpha", "sync.rho", "sync.elastic"}},
    Implied{&StrategyRow::has_outer_rule,
            "",
            {"sync.outer.rule", "sync.outer.learning_rate", "sync.outer.momentum", "sync.outer.beta2", "sync.outer.epsilon",
             "sync.outer.fragments", "sync.outer.delay", "sync.outer.mix"}},
    Implied{&StrategyRow::may_overlap, "", {"sync.progress", "sync.bucket_bytes"}},
};

template<std::size_t N> bool holds(const std::array<std::string_view, N>& keys, std::string_view key)
{
  return std::ranges::find(keys, key) != keys.end();
}

bool names_key(const StrategyRow& row, std::string_view key)
{
  return holds(row.other_keys, key) ||
         std::ranges::any_of(implied, [&](const Implied& group) { return row.*group.property && holds(group.keys, key); });
}

// "a, b and c"
std::string listed(const std::vector<std::string_view>& words)
{
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + std::string(words[i]);
  return text;
}

} // namespace

std::span<const StrategyRow> strategy_rows() { return strategies; }

const StrategyRow& strategy_row(std::string_view strategy)
{
  const auto found = std::ranges::find_if(strategies, [&](const StrategyRow& row) { return row.name.name == strategy; });
  return found == strategies.end() ? unknown_strategy : *found;
}

bool reads(std::string_view strategy, std::string_view key)
{
  return names_key(strategy_row(strategy), key) ||
         std::ranges::none_of(strategies, [&](const StrategyRow& row) { return names_key(row, key); });
}

std::string readers_of(std::string_view key)
{
  std::vector<std::string_view> readers;
  bool StrategyRow::*named = nullptr; // the property of those that `readers` has as one group
  for (const auto& group : implied) {
    if (group.strategies.empty() || !holds(group.keys, key)) continue;
    readers.push_back(group.strategies);
    named = group.property;
  }
  for (const auto& row : strategies)
    if (names_key(row, key) && (named == nullptr || !(row.*named))) readers.push_back(row.name.name);
  return listed(readers);
}

std::optional<std::string> optimizer_misfit(const std::string& strategy, const std::string& optimizer)
{
  const auto& row = strategy_row(strategy);
  const auto kind = optimizer_row(optimizer).rule;
  if (row.rule == UpdateRule::any || row.rule == kind) return std::nullopt;
  const std::string is_default = optimizer == OptimizerSpec{}.name ? " (the default)" : "";
  auto words = "`" + strategy + "` does not go with `optimizer.name: " + optimizer + "`" + is_default + ", because " +
               std::string(row.reason) + "; give `optimizer.name: " + (row.rule == UpdateRule::plain ? "sgd" : "momentum") + "`";
  if (kind != UpdateRule::any) words += ", or take the strategy " + std::string(row.remedy);
  return words;
}

bool has_velocity_of_steps(std::string_view strategy) { return strategy_row(strategy).rule == UpdateRule::momentum; }

} // namespace dt
