// Elastic averaging as arithmetic: workers are pulled to a centre, and the centre to them. Each function is one pass over memory.
//
// w: a worker's weights, c: the centre, d: an elastic difference; all laid out alike, of equal lengths, none overlapping
// another. An error in the lengths is an internal error. Zero padding stays zero.
#pragma once

#include "core/run_spec.hpp"

#include <cstdint>
#include <span>

namespace dt::engine {

// Rate of an exchange at a step with that learning rate: rho > 0 ? learning_rate * rho : alpha (easgd-hpc: alpha = eta rho).
float elastic_rate(const SyncSpec& sync, double learning_rate);

// Whether the elastic term is of the weights after the local step, when the strategy's paper has it so or not.
bool is_elastic_after(const SyncSpec& sync, bool paper_after);

// Whether the step of that number, from 1, ends a period of tau = sync.period steps: then weights are exchanged.
bool is_exchange(const SyncSpec& sync, std::int64_t step);

// w <- w - alpha (w - c)
void pull_worker(std::span<float> w, std::span<const float> c, float alpha);

// c <- c + alpha (w - c): the centre's side of an exchange with one worker
void pull_centre(std::span<float> c, std::span<const float> w, float alpha);

// c <- c + alpha (sum - workers c): its side of an exchange with all of them at once, sum = sum_i w^i
void pull_centre(std::span<float> c, std::span<const float> sum, float alpha, int workers);

// d <- alpha (w - c)
void take_difference(std::span<float> d, std::span<const float> w, std::span<const float> c, float alpha);

// d <- alpha (w - c); w <- w - d
void split_off_difference(std::span<float> d, std::span<float> w, std::span<const float> c, float alpha);

// y <- y + x
void add(std::span<float> y, std::span<const float> x);

// y <- y - x
void subtract(std::span<float> y, std::span<const float> x);

// y <- factor y
void scale(std::span<float> y, float factor);

} // namespace dt::engine
