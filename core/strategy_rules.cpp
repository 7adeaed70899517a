#include "core/strategy_rules.hpp"

#include "core/run_spec.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr std::string_view workers_plain = "its workers apply plain SGD", workers_momentum = "its workers apply SGD with momentum";
constexpr std::string_view servers_plain = "its servers apply plain SGD", servers_momentum = "its servers apply SGD with momentum";
constexpr std::string_view to_measgd = "async-measgd, the EASGD form whose workers have momentum";
constexpr std::string_view to_msgd = "async-msgd, whose servers keep a velocity";

constexpr std::array rules{
    StrategyRule{"sync-sgd", UpdateRule::any, "", ""},
    StrategyRule{"hsgd", UpdateRule::any, "", ""},
    StrategyRule{"local-sgd", UpdateRule::any, "", ""},
    StrategyRule{"sync-easgd", UpdateRule::plain, workers_plain, to_measgd},
    StrategyRule{"decentralized-easgd", UpdateRule::plain, workers_plain, to_measgd},
    StrategyRule{"async-sgd", UpdateRule::plain, servers_plain, to_msgd},
    StrategyRule{"async-msgd", UpdateRule::momentum, servers_momentum, "async-sgd"},
    StrategyRule{"hogwild-sgd", UpdateRule::plain, "its servers apply plain SGD without a lock, which a velocity would not survive", to_msgd},
    StrategyRule{"easgd", UpdateRule::plain, workers_plain, to_measgd},
    StrategyRule{"async-easgd", UpdateRule::plain, workers_plain, to_measgd},
    StrategyRule{"async-measgd", UpdateRule::momentum, workers_momentum, "async-easgd"},
    StrategyRule{"hogwild-easgd", UpdateRule::plain, workers_plain, to_measgd},
};

// Of an unknown strategy, which others refuse: any rule.
StrategyRule rule_of(const std::string& strategy)
{
  const auto found = std::ranges::find(rules, strategy, &StrategyRule::strategy);
  return found == rules.end() ? StrategyRule{strategy, UpdateRule::any, "", ""} : *found;
}

// Adam is of neither kind: it takes means of gradients, not a velocity.
UpdateRule kind_of(const std::string& optimizer)
{
  if (optimizer == "sgd") return UpdateRule::plain;
  return optimizer == "adam" ? UpdateRule::any : UpdateRule::momentum;
}

} // namespace

std::span<const StrategyRule> strategy_rules() { return rules; }

std::optional<std::string> optimizer_misfit(const std::string& strategy, const std::string& optimizer)
{
  const auto rule = rule_of(strategy);
  const auto kind = kind_of(optimizer);
  if (rule.rule == UpdateRule::any || rule.rule == kind) return std::nullopt;
  const std::string is_default = optimizer == OptimizerSpec{}.name ? " (the default)" : "";
  auto words = "`" + strategy + "` does not go with `optimizer.name: " + optimizer + "`" + is_default + ", because " +
               std::string(rule.reason) + "; give `optimizer.name: " + (rule.rule == UpdateRule::plain ? "sgd" : "momentum") + "`";
  if (kind != UpdateRule::any) words += ", or take the strategy " + std::string(rule.remedy);
  return words;
}

bool has_velocity_of_steps(const std::string& strategy) { return rule_of(strategy).rule == UpdateRule::momentum; }

} // namespace dt
