// Follows runs until they have ended. Used by wait, watch and --wait.
#pragma once

#include "cli/command/context.hpp"
#include "cli/command/verb.hpp"
#include "cli/follow/study_clock.hpp"
#include "cli/runs/results_store.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dt::cli {

inline constexpr double default_patience_s = 900; // a controller's restart, or its move to another host

// Adds --patience, which takes a duration. patience_s throws a usage error if the text is none.
Option* add_patience_option(Verb& verb, std::string& patience);
double patience_s(const std::string& text);
// The duration that an option was given. Throws a usage error if the text is none.
double duration_of_option_s(const std::string& option, const std::string& text);

// Runs that are to be ended early, by key, with the reason.
using FarBehind = std::function<std::map<std::string, std::string>(const std::vector<RunView>&)>;

struct Follow {
  std::vector<std::string> keys, names;   // of the runs, in the same order
  Terminal terminal;                      // where progress is shown
  bool to_stderr = true;                  // false: to standard output
  double timeout_s = 0;                   // 0: no limit
  std::vector<FinishedRun> earlier{};     // other runs of the study: their times tell how long these will take
  std::int64_t most_runs = 0;             // at the same time (--max-jobs); 0: no limit
  double patience_s = default_patience_s; // how long a scheduler that cannot be reached is asked again
  FarBehind far_behind{};                 // asked at each look which runs are to be ended early; may be empty
};

enum class FollowEnd { all_ended, timed_out, unreachable, reader_left };

// Shows the progress of runs and the estimated time until all have ended: redraws a table in a terminal, writes lines elsewhere
// (make_progress_view). Returns when nothing more will
// happen: every run is final, or was never submitted and no dtctl is submitting. Deferred runs are submitted when other runs end,
// and once a minute. A run that its scheduler will not start as it is (jobs::Hindrance) is reported once and waited for, because
// limits can be raised and nodes can return. If a run has its result but its job has not recorded its end, waits for that up to
// 10 s. A scheduler that cannot be reached is asked again for `patience_s`, after one warning. Ctrl-C ends dtctl with a message;
// the jobs keep running.
FollowEnd follow_runs(Context& context, const Home& home, const Follow& follow);

// Whether one of the runs has not ended and is with a scheduler that serves other users: such a one is asked less often.
bool is_on_shared_scheduler(const std::vector<RunView>& runs);

// Prints the final table and summary of the runs, and the next commands if some failed.
void print_outcome(Context& context, const std::vector<RunView>& runs);

} // namespace dt::cli
