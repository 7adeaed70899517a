// The useful time of a fast worker, against which attribution measures the computation of a run (store/analysis/attribution.hpp).
//
// Why not the mean worker: what makes one worker of two slow adds half of its cost to the mean, so half of it would count as
// slower computation. Why not the fastest worker of each step: of W workers whose steps scatter at random the fastest is below
// the mean, and the more so the larger W is, so a size would seem to compute faster than one worker. The lower quartile of the
// steps of several workers in a stretch of time is the same quantile at every size, and at most half of the workers being slow
// leaves it where it is, up to the scatter of the others. Such a quartile does not see a pause that all workers make together now
// and then, so pauses are counted beside it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dt {

// Intervals (see WorkSums) whose useful times are looked at together: enough for a quartile on one worker, and so few that a
// change of speed which all workers share stays in view.
inline constexpr std::size_t intervals_of_window = 16;

// Sums over the intervals of a run, in seconds.
struct FastSteps {
  // Σ over windows of k · q, with k the number of intervals in the window and q the lower quartile of the useful times of all
  // workers in these intervals.
  double useful_s = 0;
  // A pause is an interval in which a worker is far slower than in the rest of its window: by more than 1/20 and by more than
  // eight times what lies between the worker's lower decile and quartile there. `pauses_s` is what pauses take above the
  // quartile, mean over the workers; `common_pauses_s`, what the lower quartile of the workers (as in fast_sum_s) pauses in the
  // same interval. Of one worker both are the same: nothing tells whether others would have paused with it.
  double common_pauses_s = 0;
  double pauses_s = 0;
};

// `useful_s` has a row for each worker, with a time in s for each interval; all rows are equally long. The windows are about
// equally long. 0 without intervals.
FastSteps fast_steps(const std::vector<std::span<const double>>& useful_s);

// The sum of useful time that the fastest quarter of the workers does not exceed: of n sums in ascending order the one with the
// index (n - 1)/4, rounded down, so of up to four workers the least. NaN without workers.
double fast_sum_s(std::vector<double> useful_sums_s);

} // namespace dt
