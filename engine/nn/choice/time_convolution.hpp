// Times the algorithms of one convolution and chooses.
#pragma once

#include "engine/nn/choice/convolution_trial.hpp"

#include <vector>

namespace dt::nn {

// The algorithms that time_convolution tries: those that this processor has for the case in at least one direction.
std::vector<Algorithm> candidates_of(const ConvolutionCase& of);

// The fastest algorithms of the convolution. Measures in rounds, in which every algorithm has its turn, so that other load on the
// machine meets all of them; the least time of each counts. One that is far behind after the first round has no further turn.
// Ends after `seconds`, but not before the second round. image_lanes is no candidate here: it is chosen for whole networks.
LayerAlgorithms time_convolution(const ConvolutionCase& of, double seconds);

} // namespace dt::nn
