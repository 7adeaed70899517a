// Finds the ranks of a run.
#pragma once

#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/processes.hpp"

#include <string>
#include <vector>

namespace dt::test {

// Processes of dtengine that work in this home, in ascending order.
inline std::vector<pid_t> ranks_of(const Dtctl& dtctl)
{
  std::vector<pid_t> pids;
  const auto found = run_command({"pgrep", "-f", "^[^ ]*dtengine run --attempt " + dtctl.home().string()});
  for (const auto& line : split(trim(found.out), '\n'))
    if (!line.empty()) pids.push_back(std::stoi(line));
  return without_children(pids);
}

} // namespace dt::test
