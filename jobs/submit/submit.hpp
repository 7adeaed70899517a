// Submits planned runs. A missing or failed run gets a new attempt; a succeeded or active run is not changed.
#pragma once

#include "core/home/locked_home.hpp"
#include "jobs/follow/reconcile.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// Runs that must succeed before the new jobs may start. Those that have succeeded are left out.
struct Predecessors {
  std::vector<std::filesystem::path> run_folders;
  std::map<std::string, std::vector<std::string>> job_ids; // key: scheduler
};

// Throws a usage error if one of the runs has failed or was never submitted, and an environment error if the files of one cannot
// be read.
Predecessors find_predecessors(const Home& home, const std::vector<std::string>& keys);

struct SubmitOptions {
  std::string engine;       // path of dtengine
  std::string study;        // id of the study that requests the runs
  bool retry_failed = true; // a failed, lost, timed-out or cancelled run gets a new attempt
  bool force = false;       // a succeeded run gets a new attempt too
  SubmitRules rules{};
  Predecessors after{};
  std::string agent{};                    // path of dtjob
  std::string simulator{};                // path of dtsim; needed only for simulated runs
  std::optional<std::string> git_state{}; // of the recipe's folder; nothing: that of the run's last attempt
};

struct SubmitReport {
  // unanswered: it is unknown whether the scheduler took the job; the intent stays, and its token finds the job later.
  // deferred: the scheduler accepts no more jobs now; submit_deferred submits it later.
  enum class Action { submitted, already_done, already_active, left_failed, refused, unanswered, deferred };
  std::string key;
  Action action;
  int attempt = 0;
  std::string reason;                     // one sentence that explains the action, for `explain` and for the table
  std::optional<Submission> submission{}; // of a submitted run
  std::string caution{};                  // of a submitted run: what the user should know of the site; empty: nothing
  bool unreadable = false;                // refused because the run's files cannot be read
};

// For each run, in order, why it would be refused. Empty if only its scheduler can tell. Contacts no scheduler.
std::vector<std::string> known_refusals(std::span<const PlannedRun> runs);

// For each run, in order, why its cluster would never start its job; empty if nothing speaks against it. Asks the schedulers;
// throws a scheduler error if one cannot be reached.
std::vector<std::string> misfits(const Home& home, std::span<const PlannedRun> runs, const std::string& study);

// Submits the runs in the order of `runs` and returns one report per run. A run has at most one live attempt: the call may be
// repeated and may be killed at any point. Throws a scheduler error, before anything is submitted, if the scheduler cannot be
// reached. Never overwrites files of earlier
// submissions, except those of an intent for which nothing was started.
std::vector<SubmitReport> submit_runs(const LockedHome& home, std::span<const PlannedRun> runs, const SubmitOptions& options);

// Removes an attempt whose job the scheduler refused. Nothing was started, so the run is restored to the state before the
// submission.
void remove_refused(const AttemptFolder& attempt);

} // namespace dt::jobs
