// Run folders -> rows. Idempotent, one writer at a time, one transaction a run, resumable at any point.
#pragma once

#include "core/paths.hpp"
#include "core/run_record.hpp"
#include "core/study_record.hpp"
#include "store/database.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A run's state as judged by jobs::reconcile, to be kept beside its records.
struct RunVerdict {
  std::string key;
  RunState state = RunState::unknown;
  std::string cause, evidence;
  int attempt = 0;
};

struct IngestReport {
  std::size_t runs_added = 0, runs_updated = 0, runs_unchanged = 0;
  std::size_t step_rows = 0;
  std::vector<std::string> problems;   // damaged records and folders, which were left out, one sentence each
  std::vector<std::string> unreadable; // runs left out because the file system refused or failed; they may be whole
};

// Takes in a study and its run list (the runs' rows may come later).
void ingest_study(Database& database, const StudyRecord& study);

// Takes in these runs from their folders: spec, attempts, begin, events and result. A run whose final state and files are in
// already costs one look-up.
IngestReport ingest_runs(Database& database, const Home& home, std::span<const RunVerdict> verdicts);

// A run that was submitted just now, with what its folder says about it.
struct SubmittedRun {
  const PlannedRun* planned = nullptr;
  Submission submission;
};

// Takes in runs right after their submission without reading their folders again, all in one transaction, in state `queued`.
// Runs that the database knows already are left to ingest_runs. Number of runs taken in.
std::size_t ingest_submitted(Database& database, std::span<const SubmittedRun> runs);

// Takes out a study, these of its runs, and runs that were known from its list alone. A run of another study stays.
void remove_study(Database& database, const std::string& study_id, std::span<const std::string> run_keys);

// Makes the same database again from the folders alone, in a new file that replaces the old one at the end.
// `judge` gives the verdicts of a batch of keys (jobs::reconcile, handed in by cli).
IngestReport rebuild(const Home& home, const std::function<std::vector<RunVerdict>(std::span<const std::string>)>& judge);

} // namespace dt::store
