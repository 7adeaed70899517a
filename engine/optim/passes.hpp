// Passes over the packed buffer by a team of threads, compiled for several instruction sets.
#pragma once

#include <cstddef>

namespace dt::optim {

// A buffer with fewer floats is processed by one thread: waking a team would cost more than it saves.
inline constexpr std::size_t smallest_shared = 128 * 1024;

// Sum of squares in double, in a fixed order: equal bits for equal numbers, for every team size.
double sum_of_squares(const float* values, std::size_t size);

// Whether all values are finite.
bool all_finite(const float* values, std::size_t size);

// into <- into + from, shared among the calling thread's team.
void add(float* into, const float* from, std::size_t size);

// w <- w + rate (factor x g - w)
void follow(float* weights, const float* gradients, std::size_t size, float factor, float rate);

} // namespace dt::optim
