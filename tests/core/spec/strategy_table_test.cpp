// The table of strategies: which keys each one reads, which optimizers it goes with, and the help that says so.
#include "core/spec/strategy_table.hpp"

#include "core/spec/names.hpp"
#include "core/spec/spec_schema.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <tuple>

using namespace dt;

namespace {

std::string accepted_by(std::string_view strategy)
{
  std::string names;
  for (const auto& optimizer : optimizer_names())
    if (!optimizer_misfit(std::string(strategy), std::string(optimizer.name)))
      names += (names.empty() ? "" : " ") + std::string(optimizer.name);
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

TEST_CASE("a key that only some strategies read is a key of sync, and all keys that the table names exist")
{
  for (const auto& row : strategy_rows())
    for (const auto key : row.other_keys) CHECK((key.empty() || find_key(key) != nullptr));
  std::string named;
  for (const auto& key : spec_keys())
    if (key.path.starts_with("sync.") && !readers_of(key.path).empty()) named += std::string(key.path.substr(5)) + " ";
  CHECK(named == "allreduce period alpha rho elastic bucket_bytes progress wire overlap servers server_placement server_threads "
                 "node_period local_start outer.rule outer.learning_rate outer.momentum outer.beta2 outer.epsilon "
                 "outer.fragments outer.delay outer.mix ");
}

TEST_CASE("only ranks of strategies with servers are at different steps, and only those with a momentum of their own have a "
          "velocity of steps")
{
  for (const auto& row : strategy_rows()) {
    CHECK(row.is_asynchronous == row.has_servers);
    CHECK(has_velocity_of_steps(row.name.name) == (row.name.name == "async-msgd" || row.name.name == "async-measgd"));
  }
}

TEST_CASE("a strategy reads the keys of its properties and those of its row")
{
  CHECK(reads("sync-sgd", "sync.wire"));
  CHECK(reads("sync-sgd", "sync.bucket_bytes"));
  CHECK_FALSE(reads("sync-sgd", "sync.period"));
  CHECK(reads("local-sgd", "sync.period"));
  CHECK_FALSE(reads("local-sgd", "sync.alpha"));
  CHECK(reads("diloco", "sync.outer.learning_rate"));
  CHECK_FALSE(reads("local-sgd", "sync.outer.learning_rate"));
  CHECK(reads("hogwild-easgd", "sync.server_threads"));
  CHECK_FALSE(reads("async-easgd", "sync.server_threads"));
  CHECK_FALSE(reads("hsgd", "sync.allreduce"));
  for (const auto& row : strategy_rows()) CHECK(reads(row.name.name, "sync.topology"));
}

TEST_CASE("the readers of a key are named as a family where they are one")
{
  CHECK(readers_of("sync.alpha") == "the EASGD family");
  CHECK(readers_of("sync.period") == "the EASGD family, local-sgd and diloco");
  CHECK(readers_of("sync.servers") == "strategies with a parameter server");
  CHECK(readers_of("sync.server_threads") == "hogwild-sgd and hogwild-easgd");
  CHECK(readers_of("sync.progress") == "sync-sgd, hsgd, diloco and sync-easgd");
  CHECK(readers_of("sync.outer.rule") == "diloco");
  CHECK(readers_of("sync.bucket_bytes") == "sync-sgd, hsgd and sync-easgd");
  CHECK(readers_of("sync.allreduce") == "sync-sgd, local-sgd, diloco, sync-easgd and decentralized-easgd");
  CHECK(readers_of("sync.topology").empty());
}

TEST_CASE("each strategy takes the optimizers that its paper defines it with")
{
  for (const auto* strategy : {"sync-sgd", "hsgd", "local-sgd", "diloco"})
    CHECK(accepted_by(strategy) == "sgd momentum nesterov adam adamw lars");
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
  for (const auto& [strategy, optimizer, beside] : {std::tuple{"async-sgd", "momentum", "async-msgd"},
                                                    {"async-msgd", "sgd", "async-sgd"},
                                                    {"async-measgd", "sgd", "async-easgd"},
                                                    {"hogwild-easgd", "momentum", "async-measgd"}})
    CHECK_THAT(optimizer_misfit(strategy, optimizer).value(), Catch::Contains("or take the strategy " + std::string(beside)));
}

TEST_CASE("the help of optimizer.name says what the table says")
{
  std::map<UpdateRule, std::vector<std::string_view>> strategies;
  for (const auto& row : strategy_rows()) strategies[row.rule].push_back(row.name.name);
  CHECK(find_key("optimizer.name")->help == "Update rule. Any with " + listed(strategies[UpdateRule::any]) +
                                                "; momentum, nesterov or lars with " + listed(strategies[UpdateRule::momentum]) +
                                                "; sgd with the other strategies.");
}
