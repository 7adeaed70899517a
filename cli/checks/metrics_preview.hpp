// dtctl validate --metrics: applies the expressions of program.metrics to a file with sample output, and shows what they find.
#pragma once

#include "cli/command/context.hpp"
#include "core/spec/run_spec.hpp"

#include <filesystem>

namespace dt::cli {

// Prints a table with a row for each expression. Returns whether all of them find figures and leave none out. Throws a usage
// error if there are no expressions or no such file.
bool preview_metrics(Context& context, const ProgramSpec& program, const std::filesystem::path& output);

} // namespace dt::cli
