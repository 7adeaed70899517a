// What a submission would do, without doing it: `dtctl plan` and --dry-run.
#pragma once

#include "cli/context.hpp"
#include "cli/resolve.hpp"

namespace dt::cli {

// Every run with its key, its state and what would become of it; core-hours from time limits x cores x
// starts (each requeue is another start); scripts in JSON, and in
// text when `all_scripts`. Nothing is written anywhere, no scheduler is asked.
ExitCode print_dry_run(Context& context, const Home& home, const Resolved& resolved, bool all_scripts);

} // namespace dt::cli
