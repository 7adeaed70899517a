// Looking on until runs have ended: what wait, watch and --wait share.
#pragma once

#include "cli/context.hpp"
#include "cli/results_store.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct Follow {
  std::vector<std::string> keys, names; // of the runs, alike in order
  Terminal terminal;                    // where progress is shown
  bool to_stderr = true;                // or to standard output
  double timeout_s = 0;                 // 0: as long as it takes
};

enum class FollowEnd { all_ended, timed_out, unreachable, reader_left };

// Redraws a table in a terminal, writes a line a change elsewhere. Ends when nothing more will happen: every run is final, or
// was never submitted and nobody is submitting. Runs for which their scheduler had no room are handed over when some end, and
// once a minute. A run that its scheduler will not start as it is (jobs::Hindrance) is told of once and waited for: limits may be
// raised and nodes come back. An end that a cluster's scheduler may take back (preempted, interrupted) has to stand for some
// seconds; a scheduler that cannot be reached is asked again for a minute. Ctrl-C ends dtctl and leaves the jobs running, and
// says so.
FollowEnd follow_runs(Context& context, const Home& home, const Follow& follow);

// The final table and summary of runs that were waited for, with what to type next when some failed.
void print_outcome(Context& context, const std::vector<RunView>& runs);

} // namespace dt::cli
