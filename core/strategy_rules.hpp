// Which update rule each strategy is defined with: one table for the checks of recipes, the engine and the help.
//
// From easgd-hpc (You, Buluç, Demmel): every EASGD form but async-measgd has plain SGD as its local step, W^i <- W^i - eta g^i, and so have
// async-sgd and hogwild-sgd on their servers; async-msgd and async-measgd have V <- mu V - eta g, W <- W + V. swFLOW's paper was not
// available in full; that decentralized-easgd has the local step of the other EASGD forms is our reading.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dt {

enum class UpdateRule {
  any,      // every optimizer
  plain,    // `sgd`
  momentum, // one that keeps a velocity: `momentum`, `nesterov`, `lars`
};

struct StrategyRule {
  std::string_view strategy;
  UpdateRule rule;
  std::string_view reason; // "its servers apply plain SGD"; empty for any
  std::string_view remedy; // the strategy to take for a rule of the other kind; empty for any
};

// One for each of strategy_names(), in their order.
std::span<const StrategyRule> strategy_rules();

// Why the strategy does not go with `optimizer.name: optimizer`, and what to write instead; nothing when it does.
std::optional<std::string> optimizer_misfit(const std::string& strategy, const std::string& optimizer);

// Whether the strategy's velocity is a sum of steps, V <- mu V - eta g, W <- W + V, as its paper has it, and not of gradients.
bool has_velocity_of_steps(const std::string& strategy);

} // namespace dt
