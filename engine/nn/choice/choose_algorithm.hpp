// How measured times of a convolution become a choice of its algorithms. Pure functions.
#pragma once

#include "core/spec/algorithms.hpp"

#include <vector>

namespace dt::nn {

// Seconds of one convolution in each direction, with the copies into other layouts that the algorithm costs there. NaN: there
// is no such algorithm for the shape, or the direction is not computed.
struct ConvolutionTimes {
  double forward = 0, backward_data = 0, backward_weights = 0;
};

// The times of a convolution that computes forward with one algorithm, and both directions of the backward pass with another.
// They belong together: the weights lie as the forward pass wants them, and another layout costs the backward pass a copy.
struct TimedPair {
  Algorithm forward = Algorithm::direct, backward = Algorithm::direct;
  ConvolutionTimes seconds;
};

// Another algorithm than the rule's must be faster by this share: the measured difference of two equal ones is below it.
inline constexpr double clearly_faster = 0.03;

// The algorithms with the least sum of times. Another algorithm than the rule's is taken for a direction only if its time is less
// than (1 - clearly_faster) of the rule's. A direction without times keeps the rule. The rule's own pair must be among `timed`.
LayerAlgorithms choose_algorithms(const LayerAlgorithms& rule, const std::vector<TimedPair>& timed);

} // namespace dt::nn
