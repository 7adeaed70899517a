// Runs for which their scheduler had no room: handed over by the verbs that look at them (status, wait, watch, --wait).
#pragma once

#include "cli/context.hpp"
#include "cli/results_store.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// A run that waits for room in its scheduler's queue.
bool is_deferred(const RunView& run);

// What became of runs that waited for room.
struct HandOver {
  std::size_t submitted = 0, waiting = 0;
  std::vector<std::string> refusals; // in words, each once
  std::string reason;                // why the rest waits
};

// Hands over those of the runs that wait for room, as far as there is room now. A scheduler that cannot be reached is told in
// `troubles`; then nothing was handed over.
HandOver hand_over_deferred(const Home& home, const std::vector<RunView>& runs, std::vector<std::string>& troubles);

// "4 more runs were submitted; 12 wait: not handed to Slurm yet: …" and warnings about refused ones. Nothing where nothing
// changed.
void tell(Context& context, const HandOver& done);

} // namespace dt::cli
