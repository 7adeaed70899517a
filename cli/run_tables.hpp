// How runs are shown, the same in every verb.
#pragma once

#include "cli/cell.hpp"
#include "cli/results_store.hpp"
#include "core/error.hpp"

#include <string>
#include <vector>

namespace dt::cli {

Cell state_cell(RunState state);
Cell key_cell(const std::string& key); // data: all of it; text: what people need

// In the scheduler's words what a queued run waits for: "waits for 2 cores; 3 jobs are before it"; of a suspended one, where it
// is suspended. Empty for all others.
std::string waiting_reason(const RunView& run);

// A queued run that its scheduler will not start as it is (jobs::Hindrance).
bool is_hindered(const RunView& run);

// How often the scheduler has started the run's job again.
int restarts(const RunView& run);

// key, run, state, progress, cause.
Table status_table(const std::vector<RunView>& runs);

// key, run, ranks, throughput, shares, accuracies: a run a row.
Table measurement_table(const std::vector<RunView>& runs);

// Runs in each state, for programs: {"succeeded": 4, "running": 2}.
Json state_counts(const std::vector<RunView>& runs);

// "6 runs: 4 succeeded, 2 running".
std::string summary(const std::vector<RunView>& runs);

// Fraction done of a running run, from its heartbeat; NaN when not known.
double fraction_done(const RunView& run);

// Seconds until the end at the speed so far; NaN when not known. Time in which the run was suspended does not count, and while it
// is suspended its remaining time stands still.
double remaining_s(const RunView& run, double now_unix_s);

// runs_failed when a run ended without success or was never submitted, else ok.
ExitCode exit_code_of(const std::vector<RunView>& runs);

} // namespace dt::cli
