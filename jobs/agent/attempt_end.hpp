// dtjob decides what to do when the ranks have ended: whether to launch them again, and how the run has ended. These functions
// read no file and no clock; attempt_job.cpp collects what they need.
#pragma once

#include <cstdint>
#include <optional>

namespace dt::jobs::agent {

// What dtjob knows when the ranks of one launch have ended.
struct LaunchEnd {
  int code = 0;               // exit code of the launcher, 128 + n after signal n
  std::optional<int> asked{}; // the last signal that asked the run to stop
  // Whether the attempt's folder has result.json, cancel, stop_reason, error.json and preempted.json
  // (core/record/attempt_files.hpp).
  bool result = false, cancel = false, stop_reason = false, error = false, preempted = false;
  bool is_own_program = false;
};

enum class EndKind {
  has_result,     // whatever the exit code
  stopped,        // on request, and the ranks have recorded it
  stopped_unsaid, // on request, before the ranks could record it: before the first step, or before the checkpoint was written
  no_result,      // exit code 0 without a result
  failed
};

EndKind kind_of_end(const LaunchEnd& end);

// Whether the ranks ended because they were asked to, and not by an error or a crash of their own. A run that is ended at its
// time limit has timed out instead. When a rank of the user's own program leaves, the others may crash (PyTorch aborts).
bool was_cut_short(const LaunchEnd& end);

// What dtjob knows besides, to decide whether it launches the ranks again.
struct LaunchTries {
  std::int64_t launches = 1;  // so far
  std::int64_t allowed = 1;   // in all
  bool has_moved = false;     // the home was moved: files may have been missing when the ranks looked for them
  bool is_lost = false;       // the attempt's folder is gone
  bool all_ranks_ran = false; // the program was started on every rank, so it has failed by itself
  bool has_stepped = false;
};

// Whether the ranks are launched again: they died before their first step without a word of their own, in MPI's start-up or on a
// node that was not ready. Exit codes 126 and 127 would be the same again (launch/rank_start.hpp).
bool may_launch_again(const LaunchEnd& end, const LaunchTries& tries);

// The exit code of a job that was asked to stop and has nothing to tell but that.
int exit_code_after(int signal);
inline constexpr int to_be_tried_again = 75; // EX_TEMPFAIL: stopped on request

} // namespace dt::jobs::agent
