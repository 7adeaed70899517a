// Tables and cells about runs, shared by all verbs.
#pragma once

#include "cli/output/cell.hpp"
#include "cli/runs/results_store.hpp"
#include "core/error.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <string>
#include <vector>

namespace dt::cli {

Cell state_cell(RunState state);
// The same; people read "diverged" in place of "succeeded".
Cell state_cell(const store::RunRow& row);
Cell key_cell(const std::string& key); // data: the whole key; text: the short key

// For a queued run, what it waits for, in the scheduler's words: "waits for 2 cores; 3 jobs are before it". For a suspended run,
// where it is suspended. Empty for all others.
std::string waiting_reason(const RunView& run);

// Whether the run is queued but its scheduler will not start it as it is (jobs::Hindrance).
bool is_hindered(const RunView& run);

// The id of the run's job in a cluster's scheduler, as squeue shows it: "82", "82_3". Empty for jobs of this machine's queue.
std::string cluster_job(const store::RunRow& row);

// How often the scheduler has restarted the run's job.
int restarts(const RunView& run);

// A note as a table shows it: its first line, of at most 48 characters. Programs get all of it.
Cell short_note_cell(const std::string& note);

// Columns: key, run, job (if a cluster's scheduler has one of the runs), state, try, progress, rate, cause.
Table status_table(const std::vector<RunView>& runs);

// Columns: key, run (or what its label differs in, and its repeat), ranks, throughput, shares, accuracies. One row per run.
Table measurement_table(const std::vector<RunView>& runs, const store::PointLabels& labels);

// Number of runs in each state, for programs: {"succeeded": 4, "running": 2}.
Json state_counts(const std::vector<RunView>& runs);

// Returns "1 running, 2 queued".
std::string states_text(const std::vector<RunView>& runs);
// Returns "6 runs: 4 succeeded, 2 running".
std::string summary(const std::vector<RunView>& runs);

// Completed fraction of a running run, from its heartbeat; NaN if unknown.
double fraction_done(const RunView& run);

// Steps per second of a running run: its recent rate if dtctl follows it, else the mean since its begin, without suspensions. NaN
// if unknown.
double steps_per_s(const RunView& run);

// "5210 samples/s", or "12.5 steps/s" where the samples of a step are unknown or simulated. Empty if the rate is unknown.
std::string rate_text(const RunView& run);

// "step 120 of 400, 5210 samples/s, 35s left", as far as it is known; empty for a run that does not run.
std::string progress_text(const RunView& run, double now_unix_s);

// Estimated seconds until the end at that rate; NaN if unknown. Time in suspension does not count, and the estimate of a
// suspended run does not change.
double remaining_s(const RunView& run, double now_unix_s);

// Returns runs_failed if a run ended without success or was never submitted, else ok.
ExitCode exit_code_of(const std::vector<RunView>& runs);

} // namespace dt::cli
