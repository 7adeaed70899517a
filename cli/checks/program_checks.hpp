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

// What would make the run fail, as far as it is known here. A program is looked for in PATH only if the run is executed on this
// machine, without modules and set-up lines. `folder` is the recipe's.
std::vector<ProgramFinding> find_program_findings(const RunSpec& run, const std::filesystem::path& folder);

// What is wrong with resources.wrapper and with the GPUs of any run.
std::vector<ProgramFinding> find_start_findings(const RunSpec& run);

} // namespace dt::cli
