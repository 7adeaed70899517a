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

TEST_CASE("conditions become a clause with bound values, with blanks, quotes, a recipe's dots and its booleans, and an empty "
          "value is none")
{
  struct Row {
    const char *text, *sql;
    std::vector<Cell> values;
  };
  const std::vector<Row> rows{
      {"strategy=sync-sgd nodes>=2 accuracy<0.5",
       R"("strategy" = ? AND "nodes" >= ? AND "accuracy" < ?)",
       {"sync-sgd", std::int64_t{2}, 0.5}},
      {"  strategy == 'a b'   nodes != 3 strategy ~ \"it's\" ",
       R"("strategy" = ? AND "nodes" != ? AND instr(lower("strategy"), lower(?)) > 0)",
       {"a b", std::int64_t{3}, "it's"}},
      {"data.shuffle=true", R"("data_shuffle" = ?)", {std::int64_t{1}}},
      {"strategy!=easgd", R"("strategy" IS NOT ?)", {"easgd"}},
      {"strategy='' accuracy!=''", R"(coalesce("strategy", '') = ? AND coalesce("accuracy", '') != ?)", {"", ""}}};
  for (const auto& [text, sql, values] : rows) {
    CHECK(clause(text).sql == sql);
    CHECK(clause(text).values == values);
  }
}

TEST_CASE(
    "what is no condition, has another type than its column or names none is refused, with the nearest column where one is near")
{
  struct Row {
    const char *text, *refusal;
  };
  for (const auto& [text, refusal] : std::vector<Row>{
           {"nodes", " is not of the form key=value; the operators are = != < <= > >= and ~ (contains)"},
           {"=3", " is not of the form key=value"},
           {"nodes;drop", " is not of the form key=value"},
           {"nodes=", " has no value; write '' for an empty one"},
           {"strategy='a", ": the closing quotation mark ' is missing"},
           {"nodes=two", ": nodes is a number, and 'two' is not"},
           {"nodes>=2x", ": nodes is a number, and '2x' is not"},
           {"accuracy>nan", ": accuracy is a number, and 'nan' is not"},
           {"name=x", ": name is ambiguous: model_name, data_name; write one of them"},
           {"stratgy=x", ": there is no column stratgy; did you mean strategy? Every column of the view runs_flat can be used"},
           {"zzzzzzzz=1", ": there is no column zzzzzzzz. Every column of the view runs_flat can be used"}})
    CHECK_THAT(error_of([&] { clause(text); }), Catch::StartsWith("usage: condition '" + std::string(text) + "'" + refusal));
  CHECK_THAT(error_of([] { clause("  "); }), Catch::StartsWith("usage: condition is empty"));
}

TEST_CASE("a label's key stands for the recipe's key of that name, where only one section has it")
{
  CHECK(clause("period=4").sql == "\"sync_period\" = ?");
  CHECK(clause("node_period=4").sql == "\"sync_node_period\" = ?");
}
