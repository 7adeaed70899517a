// What the conditions of the runs say beside a verdict: outliers, two speeds, a trend.
#pragma once

#include "store/analysis/verdict/compared_points.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::store {

// One part of a sentence for each of these that is found among the succeeded, measured runs of the points, by their throughputs
// (statistics/run_conditions.hpp): which runs are outliers and do not count; that the runs fall into two groups; that the machine
// changed during the study, and whether rounds keep that out of the comparison. The points are of one study.
std::vector<std::string> condition_facts(std::span<const ComparedPoint> points);

} // namespace dt::store
