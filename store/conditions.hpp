// "strategy=sync-sgd nodes>=2": the small language of selectors, turned into SQL with bound values.
#pragma once

#include "store/database.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// One comparison, as written.
//   conditions = { comparison } ;
//   comparison = key, operator, value ;            (blanks may stand around the operator)
//   key        = letter, { letter | digit | "_" | "." } ;
//   operator   = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" ;
//   value      = { any but blank } | "'", { any but ' }, "'" | '"', { any but " }, '"' ;
struct Comparison {
  std::string key;
  std::string op;
  std::string value;
  std::string text; // the whole of it, for messages
};

// A usage error that shows where it stops making sense.
std::vector<Comparison> parse_conditions(std::string_view text);

struct Column {
  std::string name;
  bool number = false;
};

// A WHERE clause and the values of its parameters.
struct Clause {
  std::string sql;
  std::vector<Cell> values;
};

// A usage error for a key that is no column ("sync.strategy" means sync_strategy), with the nearest one, and for a value of
// another type than its column.
Clause clause_of(const std::vector<Comparison>& comparisons, const std::vector<Column>& columns);

} // namespace dt::store
