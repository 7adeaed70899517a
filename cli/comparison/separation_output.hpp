// Prints in which time, hosts and software the two sides of a comparison differ: the first lines of its answer.
#pragma once

#include "cli/command/context.hpp"
#include "store/analysis/doubts/separation.hpp"

namespace dt::cli {

// For people, of sides that were measured apart: when, and a line for each fact that differs. For programs, of all sides, the
// object `separation`.
void print_separation(Context& context, const store::Separation& separation);

} // namespace dt::cli
