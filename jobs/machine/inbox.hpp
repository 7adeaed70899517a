// Signals as messages: while an Inbox lives, the signals that ask a job to stop are blocked and read from a descriptor.
//
// No handler interrupts other code, and no signal is lost between two system calls. The process that executes dtjob may block
// the signals before (local/leader.cpp), so that not even the moment of the exec is unguarded.
#pragma once

#include "core/files/descriptor.hpp"

#include <optional>

namespace dt::jobs {

class Inbox {
 public:
  Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Readable while a signal waits, and when a child process has ended.
  int descriptor() const { return descriptor_.get(); }
  // The next signal that waits: SIGUSR1, SIGTERM, SIGINT or SIGHUP. Nothing if none waits.
  std::optional<int> next();

 private:
  Descriptor descriptor_;
};

// Blocks the signals of an Inbox in this process, for an exec of dtjob.
void block_job_signals();
// In a new process, before an exec: nothing is blocked, and the signals have their default effect.
void restore_job_signals();

} // namespace dt::jobs
