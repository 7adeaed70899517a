// The latest attempt of each run, as its folder tells; shared by reconcile, cancel and submit.
#pragma once

#include "core/paths.hpp"
#include "core/run_record.hpp"
#include "jobs/attempt_files.hpp"
#include "jobs/scheduler.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

struct LatestAttempt {
  std::string key;
  int attempts = 0;
  std::optional<AttemptFolder> folder;  // nothing when there is no attempt
  AttemptFiles files;                   // as they were when this was read
  std::optional<Submission> submission; // nothing when no whole intent was written: then nothing was submitted either
  bool is_open = false;                 // a scheduler may know more than its files tell
  std::string unreadable;               // why its files cannot be read; empty when they can. Then nothing else is known
};

std::vector<LatestAttempt> latest_attempts(const Home& home, std::span<const std::string> keys);

// Indices of the attempts of which a scheduler may know more than their files tell, by their scheduler: those without a result
// that have no end, or whose job a cluster's scheduler has not yet been heard to have done with (AttemptFolder::settled).
std::map<std::string, std::vector<std::size_t>> open_by_scheduler(const std::vector<LatestAttempt>& latest);

// Whether a ladder's run was stopped from outside, so that it runs again when its job is started again: preempted.json, but not
// at a time limit of its own; or the marker `requeue`. The job's script decides the same (jobs/slurm/dispatch.cpp).
bool was_cut_off(const AttemptFolder& attempt);

// The content of stop_reason at a time limit, and ahead of one.
inline constexpr std::string_view time_limit_reason = "time_limit";

JobHandle handle_of(const LatestAttempt& latest);

} // namespace dt::jobs
