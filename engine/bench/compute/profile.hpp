// Profile of a step: its operations with their times.
#pragma once

#include "core/spec/compute_profile.hpp"
#include "engine/bench/comm/bench_ranks.hpp"
#include "engine/nn/graph/network.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::bench {

// One step's operations in the order of execution. step_s includes the time between operations and the update.
struct StepProfile {
  std::vector<nn::OperationTime> operations;
  double step_s = 0;
};

// Median of each operation's time, and of the steps' times. Needs at least one step; all steps must be of one network.
StepProfile median_of(const std::vector<StepProfile>& steps);

// Whether the operation computes something: all oneDNN primitives and kernels of our own, except copies into another layout.
bool is_compute(const nn::OperationTime& operation);
// Whether the operation computes in a oneDNN primitive.
bool is_onednn(const nn::OperationTime& operation);
// Share of a step's time in the selected operations: the median over the steps.
double share_of(const std::vector<StepProfile>& steps, bool (*is_counted)(const nn::OperationTime&));

// One line per operation, longest first, with its share of the step; then the sums per kind.
std::string profile_table(StepProfile step);
nlohmann::ordered_json profile_json(const std::vector<nn::OperationTime>& operations);

// ---- the compute profile of a training step, measured on all ranks at the same time ----

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
