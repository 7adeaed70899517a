// Checks of what `dtctl compare` is asked to compare: what is refused, and what is warned about.
#pragma once

#include "cli/command/context.hpp"
#include "cli/runs/compared_side.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Reads "2%" or "0.02" as 0.02. Throws a usage error for anything but a share from 0 to below 1: a number without a percent sign
// is a fraction, because 2 could mean either.
double margin_of(const std::string& text);

// Warns about each difference between the compared runs, and prints them as the JSON member `differences`.
void warn_about(Context& context, const std::vector<std::string>& differences);

// Throws a usage error if no sample has a value of the metric.
void require_metric(store::Metric metric, const std::vector<const store::Sample*>& samples);

// Throws a usage error if the succeeded runs have different target accuracies: times to them cannot be compared.
void require_one_target(const std::vector<store::ComparedRun>& a, const std::vector<store::ComparedRun>& b);

// Throws a usage error if A and B are the same runs, and warns if some runs are on both sides.
void check_overlap(Context& context, const ComparedSide& a, const ComparedSide& b);

// Warns about runs that do not count because they have not succeeded, or not yet. `side` is their name in the sentence.
void warn_about_unfinished(Context& context, const char* side, const std::vector<store::ComparedRun>& runs);

} // namespace dt::cli
