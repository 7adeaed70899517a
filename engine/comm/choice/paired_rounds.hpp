// Statistics of times measured in rounds: contenders are compared within each round, so that other load on the machine has little
// influence. Pure functions.
#pragma once

#include <span>
#include <vector>

namespace dt::comm {

// Ratio of two contenders' times in the same round: the median over the rounds, and confidence limits. The true median is above
// `most` with probability 1/10 at most, and below `least` with probability 1/10 at most (1/8 with three rounds, the fewest
// allowed).
struct PairedRatio {
  double median = 1, least = 1, most = 1;
};

// Uses the rounds in which both have a time above 0; NaN counts as no time. Without any such round the result is 1, 0 and
// infinity.
PairedRatio paired_ratio(std::span<const double> times, std::span<const double> others);

} // namespace dt::comm
