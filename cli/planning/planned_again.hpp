// Runs of the home as they were planned, for another attempt or for a repeat of the same work.
#pragma once

#include "cli/planning/resolve.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Reads the runs with these keys. Throws a usage error for a run whose engine build, program, data, Python environment or initial
// weights have changed since: its key holds them, so it would be another run.
std::vector<PlannedRun> planned_again(const std::vector<std::string>& keys, Identities& identities);

} // namespace dt::cli
