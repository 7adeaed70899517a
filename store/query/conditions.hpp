// The selector language, "strategy=sync-sgd nodes>=2", and its translation to SQL with bound values.
#pragma once

#include "store/database/database.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// One condition.
//   conditions = { condition } ;
//   condition  = key, operator, value ;            (blanks are allowed around the operator)
//   key        = letter, { letter | digit | "_" | "." } ;
//   operator   = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" ;
//   value      = { any but blank } | "'", { any but ' }, "'" | '"', { any but " }, '"' ;
struct Condition {
  std::string key;
  std::string op;
  std::string value;
  std::string text; // the condition as written, for messages
};

// Throws a usage error that shows the first condition that cannot be read.
std::vector<Condition> parse_conditions(std::string_view text);

struct Column {
  std::string name;
  bool number = false;
};

// The column that a key names: "sync.strategy" is sync_strategy, and "period" is sync_period. Throws a usage error that begins
// with `shown` if there is none, or more than one.
const Column& find_column(const std::string& key, const std::string& shown, const std::vector<Column>& columns);

// A WHERE condition and the values of its parameters.
struct Clause {
  std::string sql;
  std::vector<Cell> values;
};

// Translates conditions. Throws a usage error for a key that is not a column (with the nearest column) and for a value that does
// not have the column's type. A dot in a key means "_": sync.strategy is the column sync_strategy. The key `tag` is no column: it
// means the tags of a run and of its studies.
Clause clause_of(const std::vector<Condition>& conditions, const std::vector<Column>& columns);

} // namespace dt::store
