// The table of a study's points: throughput, speed-up and efficiency of each size.
#pragma once

#include "cli/output/cell.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <vector>

namespace dt::cli {

// One row per point. An efficiency is shown with its 95 % interval, "91.5 % [90.2, 92.4]".
Table scaling_table(const std::vector<store::ScalingRow>& points, const store::PointLabels& labels);

} // namespace dt::cli
