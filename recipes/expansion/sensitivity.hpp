// Sensitivity: runs of a simulated study that vary one assumed figure, to see how much of its result rests on that figure.
#pragma once

#include "core/spec/run_spec.hpp"

#include <vector>

namespace dt::recipes {

// For each run of the smallest and of the largest size of its label: the same run with one of its assumed figures lower and
// higher by study.sensitivity, one figure at a time. They are no points of the study (RunSpec::control), and their labels say
// which figure they vary (point_label.hpp). Figures that are 0, and trunks of a platform without supernodes, are left out;
// a trunk's share stays at most 1. Empty if study.sensitivity is 0.
std::vector<RunSpec> varied_runs(const std::vector<RunSpec>& runs);

} // namespace dt::recipes
