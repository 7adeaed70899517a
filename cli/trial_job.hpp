// The job of dtctl doctor --launchers: submitted, waited for, read.
#pragma once

#include "cli/context.hpp"
#include "cli/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::cli {

struct LauncherTrial {
  std::string profile; // empty: the default one, where there is one
  std::int64_t nodes = 2;
};

// Submits the job, waits for its end (Ctrl-C cancels it) and judges what it left. A scheduler error when Slurm cannot be reached,
// refuses the job or does not start it in time; its folder, <home>/doctor/<time>, stays for who wants to read the outputs.
std::vector<Finding> try_launchers(Context& context, const LauncherTrial& trial);

} // namespace dt::cli
