// Displays the progress of runs, redrawn in a terminal or line by line.
#pragma once

#include "cli/output/terminal.hpp"
#include "cli/runs/results_store.hpp"

#include <memory>
#include <vector>

namespace dt::cli {

class ProgressView {
 public:
  virtual ~ProgressView() = default;
  virtual void show(const std::vector<RunView>& runs) = 0;
  // Ends the drawing, so that other text can be written below it.
  virtual void leave() = 0;
};

// In a terminal: a table that is redrawn. Elsewhere: a line whenever a run's state changes. Nothing if `quiet`.
std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr, bool quiet);

} // namespace dt::cli
