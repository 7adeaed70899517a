// Initial weights (He et al., "Delving deep into rectifiers"), equal for every rank count, batch size and layout.
#pragma once

#include "engine/nn/parameter_store.hpp"

#include <cstdint>
#include <vector>

namespace dt::engine {

// Uniform in [0, 1): a pure function of its arguments, so that any element can be made anywhere, in any order.
float counted_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// All parameters in plain order. A weight is uniform in ±sqrt(3 g / fan_in), that is of variance g / fan_in, with gain g = 2
// before a ReLU (which halves the variance) and 1 elsewhere; fan_in counts the inputs of one output. Biases are zero, batch
// norm's scales and running variances one.
std::vector<float> initial_weights(const std::vector<StoredParameter>& parameters, std::uint64_t seed);

} // namespace dt::engine
