// Initial weights [He2015], equal for every rank count, batch size and layout.
#pragma once

#include "engine/nn/plan/parameter_store.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dt::nn {

// A random number in [0, 1). A pure function of its arguments, so that any element can be computed anywhere and in any order.
float counted_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// All parameters in plain order. A weight is uniform in ±sqrt(3 g / fan_in), so its variance is g / fan_in. The gain g is 2
// before a ReLU (which halves the variance) and 1 otherwise; fan_in is the number of inputs of one output. Biases are zero; batch
// norm's scales and running variances are one.
std::vector<float> initial_weights(const std::vector<StoredParameter>& parameters, std::uint64_t seed);
// The same into `values`, which has room for exactly these.
void fill_initial_weights(const std::vector<StoredParameter>& parameters, std::uint64_t seed, std::span<float> values);

} // namespace dt::nn
