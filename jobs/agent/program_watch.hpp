// The user's own program during an attempt: its records, which this process writes (jobs/program/program_recorder.hpp), and the
// processes that its ranks leave behind.
#pragma once

#include "jobs/agent/attempt_log.hpp"
#include "jobs/program/program_recorder.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace dt::jobs::agent {

class ProgramWatch {
 public:
  ProgramWatch(const AttemptFolder& attempt, PlannedRun run, const std::string& token, const AttemptLog& log);

  ProgramRecorder& recorder() { return recorder_; }
  void begin_launch();
  // Records what the ranks have reported since the last look. A full disk or a file server that does not answer may pass, and the
  // training does not need these records: the trouble is noted once, and so is its end.
  void look();
  // A few seconds after the ranks of this node have ended: ends the processes that they have left behind, which keep the output
  // open, so that mpirun waits for them.
  void end_orphans();
  void end_left_behind() const;
  // Whether a rank has left and others wait for it; true once. Without that they would wait until the time limit.
  bool find_left_alone(bool is_at_limit);
  // The exit code of the job and, if the program left no result, why. `recorded`: what the recorder's conclude() returned for the
  // launcher's exit code `code`, which stays if the program was asked to stop (`is_cut_short`).
  ProgramRecorder::End verdict(const ProgramRecorder::End& recorded, int code, bool has_error, bool is_cut_short) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Trouble {
    Clock::time_point since;
    std::string cause;
  };

  std::string token_;
  const AttemptLog& log_;
  ProgramRecorder recorder_;
  std::optional<Trouble> unrecorded_;              // records cannot be written now
  std::optional<Clock::time_point> ended_here_at_; // when all ranks of this host were first seen to have ended
  std::string left_alone_;                         // that a rank has left and others waited for it
};

} // namespace dt::jobs::agent
