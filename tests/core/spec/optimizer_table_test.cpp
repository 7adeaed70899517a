// The table of optimizers. tests/engine/optim/optimizer_test.cpp compares it with the implementations.
#include "core/spec/optimizer_table.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE(
    "only an optimizer of plain steps keeps no buffers, and an unknown one has no properties, because the registry refuses it")
{
  for (const auto& row : optimizer_rows()) CHECK((row.buffers == 0) == (row.rule == UpdateRule::plain));
  CHECK(optimizer_row("sgdd").rule == UpdateRule::any);
  CHECK(optimizer_row("sgdd").buffers == 0);
}
