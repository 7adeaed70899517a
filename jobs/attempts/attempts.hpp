// The latest attempt of each run, as recorded in its folder. Used by reconcile, cancel and submit.
#pragma once

#include "core/home/home.hpp"
#include "core/record/attempt/attempt_record.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// The home in which the attempt lies: <home>/runs/<key>/attempts/<n>.
inline Home home_of(const AttemptFolder& attempt) { return Home(attempt.run_folder().parent_path().parent_path()); }

struct LatestAttempt {
  std::string key;
  int attempts = 0;
  std::optional<AttemptFolder> folder; // nothing if the run has no attempt
  std::optional<AttemptReader> reader; // of `folder`; has read what `record` holds
  // The submission, without which nothing was submitted; then the outcome, and without a result the end and the owner.
  AttemptRecord record;
  bool is_open = false;    // a scheduler may know more than the attempt's files
  bool queue_only = false; // of an open attempt: its past is explained or it has none, so only the queue may know more
  std::string unreadable;  // why the files cannot be read; then only `key` and the members read so far are valid. Empty: no error
};

std::vector<LatestAttempt> latest_attempts(const Home& home, std::span<const std::string> keys);

// Groups the indices of open attempts by scheduler. An attempt is open if its scheduler may know more than its files: it has no
// result, and either it has no `end`, or a cluster's scheduler has not yet confirmed that it no longer holds the job
// (AttemptFolder::settled).
std::map<std::string, std::vector<std::size_t>> open_by_scheduler(const std::vector<LatestAttempt>& latest);

// Whether a run of a ladder was stopped from outside, so that it runs again when its job is restarted. That is so if the marker
// `requeue` exists, or if preempted.json exists and the run did not reach its own time limit. dtjob applies the same rule
// (jobs/agent/batch_job.cpp).
bool was_cut_off(const AttemptFolder& attempt);

// Whether the attempt made a step, according to its heartbeat, its events and its error.
bool has_stepped(const AttemptFolder& attempt);

// Throws an environment error if the file cannot be written.
void write_stop_reason(const AttemptFolder& attempt, const StopReason& reason);

// The log of the cluster's job that ran or was to run the attempt; empty if the submission was to no cluster.
std::filesystem::path job_log_path(const AttemptFolder& attempt, const Submission& submission);

JobHandle handle_of(const LatestAttempt& latest);

// The names of runs in their studies, "study/label/#2". Reads the record of each study once.
class RunTitles {
 public:
  explicit RunTitles(const Home& home) : home_(home) {}
  // Empty if there is no record of the study, or the run is not in it.
  std::string of(const std::string& study, const std::string& key);

 private:
  const Home& home_;
  std::map<std::string, std::map<std::string, std::string>> names_; // by study and key
};

} // namespace dt::jobs
