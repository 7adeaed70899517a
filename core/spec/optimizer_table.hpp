// The table of optimizers: one row per optimizer. The engine has only its implementation (engine/optim/optimizer_registry.cpp).
#pragma once

#include "core/spec/names.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace dt {

// Kinds of update rules. A strategy works with one kind, or with any (core/spec/strategy_table.hpp).
enum class UpdateRule {
  any,      // of a strategy: works with every optimizer. Of an optimizer: neither of the others
  plain,    // w <- w - lr g, without state
  momentum, // keeps a velocity
};

struct OptimizerRow {
  Name name;
  UpdateRule rule = UpdateRule::any;
  std::int64_t buffers = 0; // number of buffers as large as the weights that it keeps between steps
  bool has_norms = false;   // needs norms over whole tensors
};

// All rows, in the order of the reference.
std::span<const OptimizerRow> optimizer_rows();
// The row of an optimizer. An unknown optimizer has UpdateRule::any and no buffers, because other code reports it.
const OptimizerRow& optimizer_row(std::string_view optimizer);

} // namespace dt
