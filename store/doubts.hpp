// What may have spoilt the measurements of runs: drift, slow nodes, busy machines.
#pragma once

#include "store/busy_machine.hpp"
#include "store/contamination.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::store {

struct Doubts {
  // How the machine drifted under a study; nothing when fewer than two of the controls that were asked about have succeeded in the same
  // allocation.
  std::optional<Drift> drift;
  std::vector<Outlier> outliers; // hosts and runs that were slower than their like in the probe before the first step
  std::vector<BusyRun> busy;
  std::size_t measured_runs = 0; // that were asked about and have a result
};

// Of the runs with these keys, which belong to this study; they are compared with all of its runs. An empty id: with one another.
Doubts doubts_of(Database& database, const std::string& study_id, const std::vector<std::string>& keys);

} // namespace dt::store
