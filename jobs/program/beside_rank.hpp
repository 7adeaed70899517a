// Processes that watch a host on behalf of its first rank where dtjob does not run.
#pragma once

#include "core/record/attempt_files.hpp"

#include <functional>

#include <sys/types.h>

namespace dt::jobs {

// Seconds of a clock that only goes forward, and whose zero has no meaning.
double monotonic_s();

// The end of a process, to wait for.
class ProcessEnd {
 public:
  explicit ProcessEnd(pid_t process);
  // False if the process has ended. Waits for that, at most this long.
  bool is_still_running(double patience_s) const;

 private:
  pid_t process_;
  int descriptor_; // -1 if the kernel gives none
};

// Called by the first rank of a host before it becomes the program. If dtjob runs on another host: starts a process that does the
// work and then ends. `rank`: the calling process, with which the work should end. The new process is a child of init, because a
// program may wait for all its children, and has none of the rank's files open. An error of the work ends it silently: dtjob says
// what is missing.
void start_beside_rank(const AttemptFolder& attempt, const std::function<void(pid_t rank)>& work);

} // namespace dt::jobs
