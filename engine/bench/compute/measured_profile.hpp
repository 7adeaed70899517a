// The compute profile of a training step, measured on all ranks at the same time.
#pragma once

#include "core/spec/compute_profile.hpp"
#include "engine/bench/comm/bench_ranks.hpp"
#include "engine/bench/compute/profile.hpp"

#include <vector>

namespace dt::bench {

// Seconds of steps that ran as in a training, without a clock around each operation. One entry a step.
struct StepTimes {
  std::vector<double> forward_s, backward_s, update_s;
  std::vector<double> compute_s; // the three together; no communication
};

// The profile of a network. `profiled` are steps in which each operation was timed; they say how a pass divides among the layers.
// The clocks make these steps slower, so each layer's time is scaled: the sums over the layers are the medians of `steps`. Valid
// on rank 0 only. Needs at least one step of each kind, and equally many operations on all ranks. Collective.
ComputeProfile measured_profile(const nn::NetworkOptions& network, const StepTimes& steps,
                                const std::vector<StepProfile>& profiled, BenchRanks& ranks);

} // namespace dt::bench
