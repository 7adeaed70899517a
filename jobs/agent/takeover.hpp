// Finds and claims the attempt that a job of a cluster is to run, so that each attempt is started at most once.
//
//   - The first claim of an attempt wins (owner.json, created exclusively). A second job for the same attempt finds it and
//   leaves.
//   - If the scheduler has restarted the job (same job id, a higher restart count than the owner's), the job makes the next
//   attempt: it
//     fences the earlier one off (result.json with "fenced_by", created exclusively) and renames a complete, claimed folder into
//     place. It stops if it finds a result, or a next attempt that somebody else made.
#pragma once

#include "core/record/run_record.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dt::jobs::agent {

// This start of this job, as its scheduler tells it.
struct JobIdentity {
  std::string job_id; // "7", or "7_3" for task 3 of an array
  int restart = 0;    // how often the scheduler had started this job before
  bool is_ladder = false;
};

// From attempt `first` of `token` on: the attempt that the caller now owns, or nothing if there is nothing to run; `say` gets one
// sentence about it. Throws an environment error if the attempt cannot be claimed or replaced (the disk is full or read-only).
std::optional<AttemptFolder> take_attempt(const AttemptFolder& first, const std::string& token, const JobIdentity& self,
                                          const std::function<void(const std::string&)>& say);

} // namespace dt::jobs::agent
