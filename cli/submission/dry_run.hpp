// `dtctl sweep --dry-run`: shows what a submission would do.
#pragma once

#include "cli/command/context.hpp"
#include "cli/planning/resolve.hpp"

namespace dt::cli {

// Prints every run with its key, its state and what would happen to it, and the core-hours: time limit x cores x starts (each
// requeue is another start). Includes the job scripts in JSON, and in text if `all_scripts`. Submits nothing. Existing runs that
// have not succeeded are reconciled, which asks their scheduler.
ExitCode print_dry_run(Context& context, const Home& home, const Resolved& resolved, bool all_scripts);

} // namespace dt::cli
