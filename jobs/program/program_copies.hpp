// The copies of programs in the home that one submission makes, or finds to be complete.
#pragma once

#include "core/home/home.hpp"
#include "core/record/run_record.hpp"

#include <mutex>
#include <set>
#include <string>

namespace dt::jobs {

// Several threads may use it.
class ProgramCopies {
 public:
  explicit ProgramCopies(const Home& home) : home_(home) {}
  // Makes sure that the home has a complete copy of the run's program. Runs of one study share a copy, which is read once. Throws
  // as keep_program does. Does nothing for runs of dtengine.
  void keep(const PlannedRun& run);

 private:
  const Home& home_;
  std::mutex mutex_;
  std::set<std::string> kept_; // ids
};

// Removes what earlier attempts have left in the folder that the run's attempts share (DTCTL_KEEP_FOLDER), so that the next
// attempt begins with nothing.
void forget_kept(const AttemptFolder& attempt);

// Before the program starts: notes whether it can only begin its training from nothing, because no earlier attempt trained or
// nothing is in that folder.
void note_beginning(const AttemptFolder& attempt);
// The number of the attempt; 1 if it begins its training from nothing.
int continued_attempt(const AttemptFolder& attempt);

} // namespace dt::jobs
