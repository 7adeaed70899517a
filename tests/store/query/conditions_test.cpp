#include "store/query/conditions.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

const std::vector<Column> columns{{"nodes", true},        {"strategy", false},   {"accuracy", true},
                                  {"data_shuffle", true}, {"sync_period", true}, {"sync_node_period", true},
                                  {"model_name", false},  {"data_name", false}};

Clause clause(const std::string& text) { return clause_of(parse_conditions(text), columns); }

} // namespace

TEST_CASE("conditions become a clause with bound values")
{
  const auto c = clause("strategy=sync-sgd nodes>=2 accuracy<0.5");
  CHECK(c.sql == "\"strategy\" = ? AND \"nodes\" >= ? AND \"accuracy\" < ?");
  CHECK(c.values == std::vector<Cell>{"sync-sgd", std::int64_t{2}, 0.5});
}

TEST_CASE("conditions may have blanks round the operator and quoted values")
{
  const auto c = clause("  strategy == 'a b'   nodes != 3 strategy ~ \"it's\" ");
  CHECK(c.sql == "\"strategy\" = ? AND \"nodes\" != ? AND instr(lower(\"strategy\"), lower(?)) > 0");
  CHECK(c.values == std::vector<Cell>{"a b", std::int64_t{3}, "it's"});
}

TEST_CASE("conditions take a recipe's dots and its booleans")
{
  const auto c = clause("data.shuffle=true");
  CHECK(c.sql == "\"data_shuffle\" = ?");
  CHECK(c.values == std::vector<Cell>{std::int64_t{1}});
}

TEST_CASE("an empty value also means not there")
{
  CHECK(clause("strategy!=easgd").sql == "\"strategy\" IS NOT ?");
  const auto c = clause("strategy='' accuracy!=''");
  CHECK(c.sql == "coalesce(\"strategy\", '') = ? AND coalesce(\"accuracy\", '') != ?");
}

TEST_CASE("what is no condition is refused with what a condition is")
{
  CHECK(error_of([] { clause("nodes"); }) ==
        "usage: condition 'nodes' is not of the form key=value; the operators are = != < <= > >= and ~ (contains)");
  CHECK(error_of([] { clause("=3"); }) ==
        "usage: condition '=3' is not of the form key=value; the operators are = != < <= > >= and ~ (contains)");
  CHECK(error_of([] { clause("nodes;drop"); }) ==
        "usage: condition 'nodes;drop' is not of the form key=value; the operators are = != < <= > >= and ~ (contains)");
  CHECK(error_of([] { clause("  "); }) == "usage: condition is empty; write something like 'strategy=sync-sgd nodes>=2'");
  CHECK(error_of([] { clause("nodes="); }) == "usage: condition 'nodes=' has no value; write '' for an empty one");
  CHECK(error_of([] { clause("strategy='a"); }) == "usage: condition 'strategy='a': the closing quotation mark ' is missing");
}

TEST_CASE("a value of another type than its column is refused")
{
  CHECK(error_of([] { clause("nodes=two"); }) == "usage: condition 'nodes=two': nodes is a number, and 'two' is not");
  CHECK(error_of([] { clause("nodes>=2x"); }) == "usage: condition 'nodes>=2x': nodes is a number, and '2x' is not");
  CHECK(error_of([] { clause("accuracy>nan"); }) == "usage: condition 'accuracy>nan': accuracy is a number, and 'nan' is not");
}

TEST_CASE("a label's key stands for the recipe's key of that name, where only one section has it")
{
  CHECK(clause("period=4").sql == "\"sync_period\" = ?");
  CHECK(clause("node_period=4").sql == "\"sync_node_period\" = ?");
  CHECK(error_of([] { clause("name=x"); }) ==
        "usage: condition 'name=x': name is ambiguous: model_name, data_name; write one of them");
}

TEST_CASE("a key that is no column is refused with the nearest one, or with none when none is near")
{
  CHECK(error_of([] { clause("stratgy=x"); }) == "usage: condition 'stratgy=x': there is no column stratgy; did you mean "
                                                 "strategy? Every column of the view runs_flat can be used");
  CHECK(error_of([] { clause("zzzzzzzz=1"); }) ==
        "usage: condition 'zzzzzzzz=1': there is no column zzzzzzzz. Every column of the view runs_flat can be used");
}
