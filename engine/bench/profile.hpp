// A step's operations with their times: where a step's time goes.
#pragma once

#include "engine/nn/network.hpp"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::engine {

// Of so many passes, at least one, the median of each operation's times; in the order in which they ran.
std::vector<OperationTime> median_profile(const std::function<std::vector<OperationTime>()>& pass, int passes);

// Whether it computes something: oneDNN's primitives and kernels of our own; what only copies from one layout into another does not.
bool is_compute(const OperationTime& operation);
// Whether it computes in a primitive of oneDNN's.
bool is_onednn(const OperationTime& operation);
// Of all operations of a kind together.
double seconds_of(const std::vector<OperationTime>& operations, bool (*is_counted)(const OperationTime&));

// A line an operation, longest first, with its share of a step of so many seconds, then the sums of each kind.
std::string profile_table(std::vector<OperationTime> operations, double step_s);
nlohmann::ordered_json profile_json(const std::vector<OperationTime>& operations);

} // namespace dt::engine
