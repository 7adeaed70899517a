#include "recipes/expansion/conditions.hpp"

#include "core/spec/names.hpp"
#include "core/text.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

std::optional<Condition> condition_of(const std::string& text, std::string& errors)
{
  Diagnostics diagnostics;
  const auto node = parse_document({std::make_shared<const std::string>("f"), text}, diagnostics);
  auto condition = node ? read_condition(*node, "/", diagnostics) : std::nullopt;
  try {
    diagnostics.throw_if_any();
  } catch (const RecipeError& error) {
    errors = error.what();
  }
  return condition;
}

bool is_true(const std::string& text, const RunSpec& spec)
{
  std::string errors;
  const auto condition = condition_of(text, errors);
  CHECK(errors.empty());
  REQUIRE(condition);
  return holds(*condition, spec);
}

std::string errors(const std::string& text)
{
  std::string errors;
  CHECK_FALSE(condition_of(text, errors));
  return errors;
}

RunSpec four_nodes()
{
  RunSpec spec;
  spec.resources.nodes = 4;
  spec.resources.ranks_per_node = 2;
  return spec;
}

} // namespace

TEST_CASE("a map holds when all its values are equal")
{
  CHECK(is_true("{ resources.nodes: 4, sync.strategy: sync-sgd }", four_nodes()));
  CHECK_FALSE(is_true("{ resources.nodes: 4, resources.ranks_per_node: 3 }", four_nodes()));
  CHECK(is_true("{ resources.time_limit: 1h, data.shuffle: true }", four_nodes()));
}

TEST_CASE("a list of a map holds when any of its values is equal")
{
  CHECK(is_true("{ resources.nodes: [2, 4] }", four_nodes()));
  CHECK(is_true("{ ranks: [7, 8], sync.strategy: [hsgd, sync-sgd] }", four_nodes()));
  CHECK_FALSE(is_true("{ ranks: [7, 9], sync.strategy: [hsgd, sync-sgd] }", four_nodes()));
  CHECK(errors("{ resources.nodes: [] }") == "f:1:20: `resources.nodes` needs at least one value");
  CHECK(errors("{ resources.nodes: [4, x] }") == "f:1:24: `resources.nodes` must be a whole number, not `x`");
  CHECK(errors("{ resources.nodes: [[4]] }") == "f:1:21: `resources.nodes` must be a whole number, not a list");
}

TEST_CASE("comparisons hold when all of them do")
{
  CHECK(is_true("resources.nodes>=4 sync.strategy=sync-sgd", four_nodes()));
  CHECK_FALSE(is_true("resources.nodes>4 sync.strategy=sync-sgd", four_nodes()));
  CHECK(is_true("resources.nodes<=4", four_nodes()));
  CHECK(is_true("resources.nodes<5", four_nodes()));
  CHECK(is_true("resources.nodes==4", four_nodes()));
  CHECK(is_true("resources.nodes!=5", four_nodes()));
  CHECK(is_true("optimizer.learning_rate=0.01 optimizer.schedule!=cosine", four_nodes()));
  CHECK(is_true("resources.time_limit>30m", four_nodes()));
}

TEST_CASE("a condition sees the run's ranks")
{
  CHECK(is_true("ranks=8", four_nodes()));
  CHECK(is_true("{ ranks: 8 }", four_nodes()));
  CHECK_FALSE(is_true("ranks>8", four_nodes()));
  CHECK(errors("ranks>x") == "f:1:1: `ranks` must be a whole number, not `x`");
}

TEST_CASE("mistakes in conditions are named")
{
  CHECK(errors("foo") == "f:1:1: `foo` is not a condition; write key.path, one of = != < <= > >=, and a value, without blanks");
  CHECK(errors("resources.nodes>=") ==
        "f:1:1: `resources.nodes>=` is not a condition; write key.path, one of = != < <= > >=, and a value, without blanks");
  CHECK(errors("resources.nodes!4") ==
        "f:1:1: `resources.nodes!4` is not a condition; write key.path, one of = != < <= > >=, and a value, without blanks");
  CHECK(errors("resources.nodes>four") == "f:1:1: `resources.nodes` must be a whole number, not `four`");
  CHECK(errors("sync.allreduce>mpi") == "f:1:1: `sync.allreduce` is not a number, so it cannot be ordered; allowed: = and !=");
  CHECK(errors("{ resources.modules: [gcc] }") == "f:1:3: `resources.modules` is a list of texts and cannot be compared");
  CHECK(errors("{ resources.env.A: 1 }") == "f:1:3: `resources.env.A` is a map of texts and cannot be compared");
  CHECK(errors("sync.strateg=x") ==
        "f:1:1: unknown key `sync.strateg`; did you mean `sync.strategy`? Allowed: " + allowed_keys("sync", "sync."));
  CHECK(errors("[a]") == "f:1:1: a condition must be a map of keys to values or a text like `resources.nodes>=4`, not a list");
  CHECK(errors("{}") == "f:1:1: a condition must be a map of keys to values or a text like `resources.nodes>=4`, not a map");
}

TEST_CASE("a choice that does not exist cannot be excluded")
{
  CHECK(errors("sync.strategy=sync-sgb") == "f:1:1: `sync.strategy` is `sync-sgb`; did you mean `sync-sgd`? Allowed: " +
                                                dt::join(dt::strings_of(dt::strategy_names()), ", "));
}
