// Which optimizer goes with which strategy: the one table, and the help that tells of it.
#include "core/strategy_rules.hpp"

#include "core/names.hpp"
#include "core/spec_schema.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace dt;

namespace {

std::string accepted_by(std::string_view strategy)
{
  std::string names;
  for (const auto& optimizer : optimizer_names())
    if (!optimizer_misfit(std::string(strategy), std::string(optimizer.name))) names += (names.empty() ? "" : " ") + std::string(optimizer.name);
  return names;
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

TEST_CASE("every strategy of the vocabulary has an update rule, in the vocabulary's order")
{
  std::vector<std::string> strategies;
  for (const auto& rule : strategy_rules()) strategies.emplace_back(rule.strategy);
  CHECK(strategies == strings_of(strategy_names()));
}

TEST_CASE("each strategy takes the optimizers that its paper defines it with")
{
  for (const auto* strategy : {"sync-sgd", "hsgd", "local-sgd"}) CHECK(accepted_by(strategy) == "sgd momentum nesterov adam lars");
  for (const auto* strategy : {"async-msgd", "async-measgd"}) CHECK(accepted_by(strategy) == "momentum nesterov lars");
  for (const auto* strategy :
       {"async-sgd", "hogwild-sgd", "easgd", "async-easgd", "hogwild-easgd", "sync-easgd", "decentralized-easgd"})
    CHECK(accepted_by(strategy) == "sgd");
}

TEST_CASE("a misfit names the reason, the optimizer to write instead and the strategy beside it")
{
  CHECK(optimizer_misfit("easgd", "momentum") ==
        "`easgd` does not go with `optimizer.name: momentum` (the default), because its workers apply plain SGD; give "
        "`optimizer.name: sgd`, or take the strategy async-measgd, the EASGD form whose workers have momentum");
  CHECK(optimizer_misfit("async-msgd", "adam") ==
        "`async-msgd` does not go with `optimizer.name: adam`, because its servers apply SGD with momentum; give "
        "`optimizer.name: momentum`");
}

TEST_CASE("the help of optimizer.name says what the table says")
{
  std::map<UpdateRule, std::vector<std::string_view>> strategies;
  for (const auto& rule : strategy_rules()) strategies[rule.rule].push_back(rule.strategy);
  CHECK(find_key("optimizer.name")->help == "the update rule: any with " + listed(strategies[UpdateRule::any]) +
                                                "; momentum, nesterov or lars with " + listed(strategies[UpdateRule::momentum]) +
                                                "; sgd with the other strategies");
}

TEST_CASE("only strategies that define a momentum of their own have a velocity of steps")
{
  for (const auto& rule : strategy_rules())
    CHECK(has_velocity_of_steps(std::string(rule.strategy)) == (rule.strategy == "async-msgd" || rule.strategy == "async-measgd"));
}
