// From planned runs to submitted jobs: what is missing or failed gets a new attempt, what is there is left alone.
#pragma once

#include "jobs/reconcile.hpp"
#include "jobs/scheduler.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

struct SubmitOptions {
  std::string engine;       // path of dtengine
  std::string study;        // id of the study that asks
  bool retry_failed = true; // a failed, lost, timed-out or cancelled run gets a new attempt
  bool force = false;       // a succeeded one too
  SubmitRules rules{};
  std::vector<std::string> after{}; // keys of runs that must have succeeded before any of these starts
};

struct SubmitReport {
  // unanswered: the scheduler did not say whether it took the job; the intent stays, and its token finds the job later.
  // deferred: the scheduler has no room for it now; submit_deferred hands it over later.
  enum class Action { submitted, already_done, already_active, left_failed, refused, unanswered, deferred };
  std::string key;
  Action action;
  int attempt = 0;
  std::string reason; // one sentence: why, for `explain` and for the table
  std::optional<Submission> submission{}; // of a submitted run
  bool unreadable = false;                // refused, because the run's files cannot be read
};

// Why each run would be refused, in order; empty where that is not known before its scheduler is asked. Asks nobody.
std::vector<std::string> known_refusals(std::span<const PlannedRun> runs);

// Safe to call again at any moment, also by two processes at once, and after a kill at any point: a run has at most one live
// attempt. Order of submission is the order of `runs`. One report a run. A usage error when a run of `after` has failed or was
// never submitted; a scheduler error, and nothing submitted, when the scheduler cannot be reached. Files of earlier submissions
// are never overwritten, except those of an intent for which nothing was started.
std::vector<SubmitReport> submit_runs(const Home& home, std::span<const PlannedRun> runs, const SubmitOptions& options);

// The scheduler has refused the attempt's job. Nothing was started, so nothing of this attempt is kept: the run is as if it had not
// been asked for.
void remove_refused(const AttemptFolder& attempt);

} // namespace dt::jobs
