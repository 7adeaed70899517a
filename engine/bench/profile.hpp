// A step's operations with their times: where a step's time goes.
#pragma once

#include "engine/nn/network.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::engine {

// One step, operation by operation in the order in which they ran; step_s includes what lies between them and the update.
struct StepProfile {
  std::vector<OperationTime> operations;
  double step_s = 0;
};

// The median of each operation's times, and of the steps'. At least one step is needed, all of one network.
StepProfile median_of(const std::vector<StepProfile>& steps);

// Whether it computes something: oneDNN's primitives and kernels of our own; what only copies from one layout into another does not.
bool is_compute(const OperationTime& operation);
// Whether it computes in a primitive of oneDNN's.
bool is_onednn(const OperationTime& operation);
// The share of a step's time that operations of a kind take; the median of the steps, each with its own operations.
double share_of(const std::vector<StepProfile>& steps, bool (*is_counted)(const OperationTime&));

// A line an operation, longest first, with its share of the step, then the sums of each kind.
std::string profile_table(StepProfile step);
nlohmann::ordered_json profile_json(const std::vector<OperationTime>& operations);

} // namespace dt::engine
