// Pace: how fast a counter grows, from its recent values.
#pragma once

#include <deque>

namespace dt::cli {

// Holds values of a counter (the steps of a run, the images of a data set) with their times. The rate is the median over a few
// parts of the recent window, so a slow first step, or a checkpoint that falls into one part, does not change it.
class Pace {
 public:
  // Call this with every observation, in the order of time. An observation with the same count as the last one changes nothing.
  // A smaller count begins anew: it is from another attempt.
  void add(double time_s, double count);
  // Counts per second. NaN before two different counts were added.
  double per_s() const;

 private:
  struct Point {
    double time_s, count;
  };
  void forget_old();
  std::deque<Point> points_;
};

} // namespace dt::cli
