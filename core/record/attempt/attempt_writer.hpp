// AttemptWriter: one life of an attempt, from begin.json over events.log and heartbeat to its end, as docs/run-folder.md
// describes them. The programs that execute an attempt write these files through it: dtengine, dtsim, and dtjob for the user's
// own program.
//
//   begin → start → add, add, … → commit, preempt, fail or close       with a thread: no step waits for a disk
//   begin → add, write, beat_if_due, add, … → close → commit or fail    from the caller's own loop, which tries again
//
// A later attempt that takes this one's place fences it off (run_record.hpp). The writer looks for the fence when it begins, at
// each heartbeat, and at the end. Of a refused attempt it writes nothing more.
#pragma once

#include "core/record/run_record.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>

namespace dt {

// The attempt's folder, <run folder>/attempts/<number>. Throws a usage error that names the option --attempt for any other path.
AttemptFolder require_attempt(const std::filesystem::path& path);

// Throws a run error if the run's key, which names its folder and its results, is not that of its spec. `path` is the spec's
// file, for the message.
void require_unaltered(const PlannedRun& run, const std::filesystem::path& path);

// The error of a rank of this process: its host is this one and its time is now. `step` -1: before the first step.
RankError own_error(int rank, const std::string& cause, std::int64_t step = -1);

// The records of processes that did not begin the attempt: a rank, and dtjob, which begins before the ranks and ends after them.
// The first two return the sentence of AttemptWriter::refusal() if the attempt is fenced off; then nothing was written. All free
// the reserve for what they write, but record_launch(). Throw environment errors that name the file.

constexpr double record_within_s = 20; // a file server may not answer at all

// Writes error.json, unless another rank has written one. Throws, too, if that takes longer than the limit.
std::string record_error(const AttemptFolder& attempt, const RankError& error, double limit_s = record_within_s);
std::string record_preemption(const AttemptFolder& attempt, const Preemption& preemption);
// Adds a line to the file `asked`.
void record_wish(const AttemptFolder& attempt, const Wish& wish);
// Adds a line to the file `launches`.
void record_launch(const AttemptFolder& attempt, const Launch& launch);
// Writes cause.json, before record_end.
void record_cause(const AttemptFolder& attempt, const FailureCause& cause);
// Writes `end`, also of an attempt that is fenced off: it tells how the job ended, not how the run did.
void record_end(const AttemptFolder& attempt, const JobEnd& end);

// Used by one thread, beside which the thread of start() uses it. Errors are environment errors that name the file.
class AttemptWriter {
 public:
  struct ThreadOptions {
    double write_every_s = 0.5; // event lines
    double beat_every_s = 1;    // heartbeat
    // Both are called before a heartbeat, and may end the process.
    std::function<void(const std::string& refusal)> refused{}; // called once, when a fence is found
    std::function<void()> cancelled{};                         // called every time, while there is the file `cancel`
    double fail_within_s = record_within_s;                    // the longest time that fail() takes
  };

  explicit AttemptWriter(AttemptFolder attempt) : attempt_(std::move(attempt)) {}

  // Creates begin.json, which makes this process the one that writes the attempt's records. Returns the refusal(), or nothing.
  // May be called again after an error.
  std::string begin(const BeginRecord& record);
  bool has_begun() const { return has_begun_; }
  // Why this process writes nothing more: "fenced off by attempt 2: it writes nothing more", or because another process has begun
  // the attempt. Empty while it may write. Reads the folder at each call until a fence is found. Must not be called between
  // start() and one of the ends.
  const std::string& refusal();

  // After begin(): writes the reserve, which keeps space for error.json and `end` on a full disk, and the first heartbeat. From
  // then on a thread writes the lines and the heartbeat. If lines cannot be written, the thread keeps the error for add() and
  // close(); a heartbeat that the thread cannot write is left out. Throws if the reserve or the first heartbeat cannot be
  // written.
  void start(ThreadOptions options);

  // Sets the numbers of the next heartbeat: the steps that are done, and those of the whole run (0: not known).
  void progress(std::int64_t step, std::int64_t steps);
  // Adds a line to events.log; the heartbeat tells its step. Takes about one microsecond. Throws an error of the thread.
  template<class Event> void add(const Event& event)
  {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    append_line(added_, event);
    heartbeat_.step = event.step;
  }

  // For an attempt without start(). Before begin() they do nothing. Lines that cannot be written are kept, and the next call
  // writes them at the same place, so that the file holds every byte once. A heartbeat is due when the last one is a second old.
  void write();
  void beat_if_due();

  // Ends the thread, writes and syncs the remaining lines, writes a last heartbeat if possible, and frees the reserve. May be
  // called again.
  void close();

  // The ends of an attempt. Each returns the refusal() if it has not written its file. The first two call close(), and throw if a
  // record cannot be written. The last one writes the remaining lines if possible, and keeps an error.json of another rank. After
  // start() it returns within ThreadOptions::fail_within_s: it leaves the lines out if the thread does not end, and throws if
  // error.json is not written by then. The destructor waits for the threads without a limit, so end the process after a fail().
  std::string commit(const RunResult& result);
  std::string preempt(const Preemption& preemption);
  std::string fail(const RankError& error);

 private:
  void work(const std::stop_token& stop);
  void write_lines(bool synced);
  void beat();
  void end_lines(bool synced);
  std::string record_failure(const RankError& error);

  AttemptFolder attempt_;
  ThreadOptions options_;
  bool may_have_begun_ = false; // begin() has failed, but may have left begin.json: a file server can report it late
  bool has_begun_ = false;
  std::string refusal_;
  std::string unwritten_;    // lines that are not in the file yet
  std::int64_t written_ = 0; // bytes of the file before them
  std::chrono::steady_clock::time_point beaten_{};
  std::mutex mutex_;  // protects the three members below
  std::string added_; // lines since the last write
  Heartbeat heartbeat_;
  std::exception_ptr failure_; // of the thread
  std::condition_variable_any wake_;
  std::future<void> work_end_; // ready when the thread has left work()
  std::jthread thread_;
  std::jthread failing_; // of fail()
};

} // namespace dt
