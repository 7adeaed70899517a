// Checks a run of the user's own program before it is submitted: its files, the program that the command starts, and GPUs.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

struct ProgramFinding {
  std::vector<std::string_view> keys;
  std::string message;
  std::optional<std::size_t> element{}; // of the list in keys.front(), from 0
};

// Returns the mistakes in `program` that would make the run fail: a missing program or file, for example. It looks for the
// program in PATH only if the run is executed on this machine, without modules and set-up lines. `folder` is the recipe's.
std::vector<ProgramFinding> find_program_findings(const RunSpec& run, const std::filesystem::path& folder);

// Returns the mistakes in resources.wrapper and in the numbers of GPUs, of runs of dtengine too.
std::vector<ProgramFinding> find_start_findings(const RunSpec& run);

} // namespace dt::cli
