// Curves: loss, accuracy and gradient noise scale of runs over their training, at a bounded number of points.
#pragma once

#include "store/database/database.hpp"

#include <string>
#include <vector>

namespace dt::store {

struct CurvePoint {
  double samples = 0;   // of all ranks since the beginning of the training; 0: the recipe of an own program gives no batch
  double elapsed_s = 0; // since the first step began, without evaluations and checkpoints
  double value = 0;     // loss, accuracy as a fraction, or samples
};

// The curves of one run, over the steps of its course (store/query/course.hpp).
struct RunCurves {
  std::string key;
  std::vector<CurvePoint> loss;     // training loss: means over up to `most_points` ranges of steps
  std::vector<CurvePoint> accuracy; // of the evaluations, as is the gradient noise scale
  std::vector<CurvePoint> noise_scale;
};

// The curves of the runs with these keys, in their order; a run without a step is left out. A range of many steps is represented
// by its first 100, so the time to read a run does not grow with its length.
std::vector<RunCurves> curves_of(Database& database, const std::vector<std::string>& keys, std::int64_t most_points);

} // namespace dt::store
