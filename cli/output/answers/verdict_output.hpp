// The verdict at the end of `dtctl results`.
#pragma once

#include "cli/context.hpp"
#include "cli/runs/selectors.hpp"
#include "store/analysis/scaling.hpp"

#include <vector>

namespace dt::cli {

// Prints what the study says, in sentences and as the JSON object `verdict`. `points` are those of the study. With several labels
// at a common size: which is the best, by throughput and by time to target. With one label at several sizes: speed-up and
// efficiency. For a single run, there is nothing to say.
void print_verdict(Context& context, ResultsStore& results, const Selection& selection,
                   const std::vector<store::ScalingRow>& points);

} // namespace dt::cli
