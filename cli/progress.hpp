// Two ways to show runs as they go on.
#pragma once

#include "cli/results_store.hpp"
#include "cli/terminal.hpp"

#include <memory>
#include <vector>

namespace dt::cli {

class ProgressView {
public:
  virtual ~ProgressView() = default;
  virtual void show(const std::vector<RunView>& runs) = 0;
  // What was shown stays, because something else is about to be written below it.
  virtual void leave() = 0;
};

// A table that is drawn over itself in a terminal; elsewhere a line whenever a run's state changes; nothing at all when `quiet`.
std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr, bool quiet);

} // namespace dt::cli
