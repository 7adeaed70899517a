#include "recipes/expansion/conditions.hpp"

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

TEST_CASE("a map holds when all its values are equal, and a list of one when any of its values is")
{
  CHECK(is_true("{ resources.nodes: 4, sync.strategy: sync-sgd }", four_nodes()));
  CHECK_FALSE(is_true("{ resources.nodes: 4, resources.ranks_per_node: 3 }", four_nodes()));
  CHECK(is_true("{ resources.time_limit: 1h, data.shuffle: true }", four_nodes()));
  CHECK(is_true("{ resources.nodes: [2, 4] }", four_nodes()));
  CHECK(is_true("{ ranks: [7, 8], sync.strategy: [hsgd, sync-sgd] }", four_nodes()));
  CHECK_FALSE(is_true("{ ranks: [7, 9], sync.strategy: [hsgd, sync-sgd] }", four_nodes()));
}

TEST_CASE("comparisons hold when all of them do, and a condition sees the run's ranks")
{
  CHECK(is_true("resources.nodes>=4 sync.strategy=sync-sgd", four_nodes()));
  CHECK_FALSE(is_true("resources.nodes>4 sync.strategy=sync-sgd", four_nodes()));
  CHECK(is_true("resources.nodes<=4", four_nodes()));
  CHECK(is_true("resources.nodes<5", four_nodes()));
  CHECK(is_true("resources.nodes==4", four_nodes()));
  CHECK(is_true("resources.nodes!=5", four_nodes()));
  CHECK(is_true("optimizer.learning_rate=0.01 optimizer.schedule!=cosine", four_nodes()));
  CHECK(is_true("resources.time_limit>30m", four_nodes()));
  CHECK(is_true("ranks=8", four_nodes()));
  CHECK(is_true("{ ranks: 8 }", four_nodes()));
  CHECK_FALSE(is_true("ranks>8", four_nodes()));
}

TEST_CASE("mistakes in conditions are named")
{
  const std::string syntax = " is not a condition; write key.path, one of = != < <= > >=, and a value, without blanks",
                    forms = "f:1:1: a condition must be a map of keys to values or a text like `resources.nodes>=4`, not ";
  for (const std::string text : {"foo", "resources.nodes>=", "resources.nodes!4"})
    CHECK(errors(text) == "f:1:1: `" + text + "`" + syntax);
  CHECK(errors("[a]") == forms + "a list");
  CHECK(errors("{}") == forms + "a map");
  struct Row {
    const char *text, *mistake;
  };
  for (const auto& [text, mistake] :
       std::vector<Row>{{"resources.nodes>four", "f:1:1: `resources.nodes` must be a whole number, not `four`"},
                        {"ranks>x", "f:1:1: `ranks` must be a whole number, not `x`"},
                        {"sync.allreduce>mpi", "f:1:1: `sync.allreduce` is not a number, so it cannot be ordered"},
                        {"{ resources.modules: [gcc] }", "f:1:3: `resources.modules` is a list of texts and cannot be compared"},
                        {"{ resources.env.A: 1 }", "f:1:3: `resources.env.A` is a map of texts and cannot be compared"},
                        {"{ resources.nodes: [] }", "f:1:20: `resources.nodes` needs at least one value"},
                        {"{ resources.nodes: [4, x] }", "f:1:24: `resources.nodes` must be a whole number, not `x`"},
                        {"{ resources.nodes: [[4]] }", "f:1:21: `resources.nodes` must be a whole number, not a list"},
                        {"sync.strateg=x", "f:1:1: unknown key `sync.strateg`; did you mean `sync.strategy`?"},
                        {"sync.strategy=sync-sgb", "f:1:1: `sync.strategy` is `sync-sgb`; did you mean `sync-sgd`?"}})
    CHECK_THAT(errors(text), Catch::StartsWith(mistake));
}
