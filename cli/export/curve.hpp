// The curves of a run, as names and values for programs that draw them.
#pragma once

#include "store/query/course.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dt::cli {

// The figures of one step, or of the evaluation after it, each with its name. What was not reported is missing.
struct CurvePoint {
  bool is_evaluation = false;
  std::int64_t step = 0;
  double unix_s = 0;
  std::vector<std::pair<std::string_view, double>> values; // NaN and infinity as they were measured
};

// The points in the order of their steps; an evaluation follows its step. `step_samples`: samples that all ranks train on in a
// step, for the throughput; NaN if it is not known.
std::vector<CurvePoint> curve_of(const store::Course& course, double step_samples);

} // namespace dt::cli
