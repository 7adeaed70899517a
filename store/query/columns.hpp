// What the columns of the views and tables that queries use mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

struct ColumnInfo {
  std::string table, column; // the table or view: "runs_flat", "throughput"
  std::string_view type;     // INTEGER, REAL or TEXT
  std::string_view unit;     // "samples/s", "0..1", empty if it has none
  std::string_view help;     // the definition
};

// All columns of the views runs_flat and scaling and of the tables steps and evals, in their order.
std::vector<ColumnInfo> describe_columns();

} // namespace dt::store
