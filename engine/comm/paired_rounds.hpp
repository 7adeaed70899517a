// Times of several contenders in the same rounds, compared round by round, so that what else the machine does decides little. Pure.
#pragma once

#include <span>
#include <vector>

namespace dt::engine {

// Of one contender's time ÷ another's in the same round: the median over the rounds, and the ends of its intervals. The true median is
// above `most`, and below `least`, in one case of ten each (one of eight with three rounds, which are the fewest).
struct PairedRatio {
  double median = 1, least = 1, most = 1;
};

// Rounds in which both have a time above 0; NaN is none. Without such a round nothing is known: 1, 0 and infinity.
PairedRatio paired_ratio(std::span<const double> times, std::span<const double> others);

// The middle one; of an even number the upper. At least one.
double median(std::vector<double> values);

} // namespace dt::engine
