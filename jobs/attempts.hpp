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
};

std::vector<LatestAttempt> latest_attempts(const Home& home, std::span<const std::string> keys);

// Indices of the attempts of which a scheduler may know more than their files tell, by their scheduler: no result, and no end;
// or they are to be started again; or a signal ended them, and whose it was is not noted yet.
std::map<std::string, std::vector<std::size_t>> open_by_scheduler(const std::vector<LatestAttempt>& latest);

JobHandle handle_of(const LatestAttempt& latest);

} // namespace dt::jobs
