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
};

// A table that is drawn over itself in a terminal; elsewhere a line whenever a run's state changes.
std::unique_ptr<ProgressView> make_progress_view(const Terminal& terminal, bool to_stderr);

} // namespace dt::cli
