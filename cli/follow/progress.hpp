// Displays the progress of runs: redrawn in a terminal, line by line elsewhere.
#pragma once

#include "cli/output/count_view.hpp"
#include "cli/output/terminal.hpp"
#include "cli/runs/results_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::cli {

class ProgressView {
 public:
  virtual ~ProgressView() = default;
  // `left_s` is the estimated time until all runs have ended; NaN: there is no estimate.
  virtual void show(const std::vector<RunView>& runs, double left_s) = 0;
  // Ends the drawing, so that other text can be written below it.
  virtual void leave() = 0;
};

// In a terminal: a table that is redrawn, below a bar as wide as the terminal. Elsewhere: a line whenever a run's state changes,
// and now and then (LogTimes) a line about all runs. Nothing if `quiet`.
std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr, bool quiet);

// "[####....] 17:41:30  about 4 min left  6 runs: 2 succeeded, 4 queued", of exactly `columns` if the text leaves room for the
// bar, else cut to them. `now` is the time of day.
std::string headline(const std::vector<RunView>& runs, double left_s, const std::string& now, std::size_t columns);

// The line of a log: "2 of 6 runs ended, 1 running, 3 queued, about 4 min left"; of a single run its step, rate and time left.
// Empty if there is nothing to say.
std::string log_line(const std::vector<RunView>& runs, double left_s, double now_unix_s);

} // namespace dt::cli
