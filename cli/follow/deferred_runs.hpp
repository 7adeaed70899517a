// Submits deferred runs. Used by the verbs that look at runs (status, wait, watch, --wait).
#pragma once

#include "cli/command/context.hpp"
#include "cli/runs/results_store.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Whether the run waits because its scheduler accepts no more jobs now.
bool is_deferred(const RunView& run);

// The result of a try to submit deferred runs.
struct DeferredSubmission {
  std::size_t submitted = 0, waiting = 0;
  std::vector<std::string> refusals; // distinct messages
  std::string reason;                // why the remaining runs wait
};

// Submits the deferred runs among `runs`, as many as the scheduler accepts. If a scheduler cannot be reached, appends its message
// to `troubles` and submits nothing.
DeferredSubmission submit_deferred(const Home& home, const std::vector<RunView>& runs, std::vector<std::string>& troubles);

// Prints "4 more runs were submitted; 12 wait: not handed to Slurm yet: …" and warnings about refused runs. Prints nothing if
// nothing changed.
void tell(Context& context, const DeferredSubmission& done);

} // namespace dt::cli
