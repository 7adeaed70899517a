// AttemptState: the members that attempt_job, launch_watch and last_records all read and change while dtjob runs one attempt.
#pragma once

#include "core/spec/run_spec.hpp"
#include "jobs/agent/attempt_job.hpp"
#include "jobs/agent/attempt_log.hpp"
#include "jobs/agent/attempt_place.hpp"
#include "jobs/agent/deadlines.hpp"
#include "jobs/agent/program_watch.hpp"
#include "jobs/program/energy_watch.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <string>

namespace dt::jobs::agent {

// Who asked the run to stop, and when: from then on the ranks are being stopped.
struct StopRequest {
  std::optional<int> signal;                               // the last one
  double unix_s = std::numeric_limits<double>::infinity(); // of the first one
  bool is_learned = false;                                 // the scheduler was asked whether it takes the job off its nodes

  void ask(int by, double now_unix_s)
  {
    if (!signal) unix_s = now_unix_s;
    signal = by;
  }
  void withdraw()
  {
    signal.reset();
    unix_s = std::numeric_limits<double>::infinity();
  }
};

struct AttemptState {
  AttemptState(const AttemptFolder& of, const JobTerms& under, Inbox& signals)
      : attempt(of), terms(under), inbox(signals), place(of), log(of),
        deadlines(std::chrono::steady_clock::now(), Deadlines::Seconds(under.time_limit_s),
                  Deadlines::Seconds(under.signal_ahead_s))
  {
  }

  const AttemptFolder& attempt;
  const JobTerms& terms;
  Inbox& inbox;
  AttemptPlace place;
  AttemptLog log;
  Deadlines deadlines;
  StopRequest stop{};
  std::optional<Submission> submission{}; // once it was read
  std::string token{};                    // of it; every process of the job has it in its environment
  std::optional<RunSpec> spec{};
  std::optional<AttemptEnergy> energy{}; // of this node, from the launch of the ranks on
  std::optional<ProgramWatch> program{}; // the user's own program
};

// Takes the signals that have come: they ask the run to stop, and JobTerms::on_signal is called for each.
void take_signals(AttemptState& state);
// Waits until the attempt's folder is at its place again. Returns false if that takes too long, or the attempt was removed.
bool await_home(AttemptState& state);
// Whether the file is there; false if the file system cannot answer now.
bool seems_there(const std::filesystem::path& path);
// Ends what is left of the job on this node. A launcher that was killed can leave ranks here, which would report into the next
// launch.
void end_left_ranks(const AttemptState& state);
// A cluster takes a job off its nodes by SIGTERM for the ranks first. If they end of it, the job ends before this process is
// told. So the scheduler is asked, once a launch.
void learn_of_preemption(AttemptState& state);

} // namespace dt::jobs::agent
