// Runs the job of dtctl doctor --launchers and reads its results.
#pragma once

#include "cli/checks/machine.hpp"
#include "cli/command/context.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::cli {

struct LauncherTrial {
  std::string profile; // empty: the default profile, if there is one
  std::int64_t nodes = 2;
};

// Submits the job, waits for its end (Ctrl-C cancels it) and judges the results. Throws a scheduler error if the scheduler
// cannot be reached, refuses the job or does not start it in time. The folder <home>/doctor/<time> with the outputs is not
// deleted.
std::vector<Finding> try_launchers(Context& context, const LauncherTrial& trial);

} // namespace dt::cli
