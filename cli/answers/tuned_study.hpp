// The table of tuned points (study.tune), for terminals, programs and reports.
#pragma once

#include "cli/command/context.hpp"
#include "cli/output/cell.hpp"
#include "cli/runs/tuned_points.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::cli {

// A row for each point: tuned values, the range around them that costs at most 10 % more, the cost without and with that of the
// search, and what the search has taken. `own`: the recipe's own labels (StudyRecord::labels).
Table tuning_table(const std::vector<TunedPoint>& points, const std::map<std::string, std::string>& own, const StudyTune& tune);

} // namespace dt::cli
