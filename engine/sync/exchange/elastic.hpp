// Arithmetic of elastic averaging: workers are pulled to the centre, and the centre to the workers. Each function makes one pass
// over memory.
//
// w: a worker's weights, c: the centre, d: an elastic difference. All have the same layout and length and must not overlap.
// Different lengths are an internal error. Zero padding stays zero.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/sync/vector.hpp"

#include <cstdint>
#include <span>

namespace dt::sync {

// Elastic rate of an exchange at a step with this learning rate: rho > 0 ? learning_rate * rho : alpha. [You2017: alpha = eta
// rho]
float elastic_rate(const SyncSpec& sync, double learning_rate);

// Whether the elastic term uses the weights after the local step. paper_after: the answer of the strategy's paper, which
// sync.elastic: paper selects.
bool is_elastic_after(const SyncSpec& sync, bool paper_after);

// Whether step `step` (from 1) ends a period of tau = sync.period steps. Weights are exchanged at the end of a period.
bool is_exchange(const SyncSpec& sync, std::int64_t step);

// w <- w - alpha (w - c)
void pull_worker(std::span<float> w, std::span<const float> c, float alpha);

// c <- c + alpha (w - c): the centre's side of an exchange with one worker.
void pull_centre(std::span<float> c, std::span<const float> w, float alpha);

// c <- c + alpha (sum - workers c): the centre's side of an exchange with all workers at once, where sum = sum_i w^i.
void pull_centre(std::span<float> c, std::span<const float> sum, float alpha, int workers);

// d <- alpha (w - c)
void take_difference(std::span<float> d, std::span<const float> w, std::span<const float> c, float alpha);

// d <- alpha (w - c); w <- w - d
void split_off_difference(std::span<float> d, std::span<float> w, std::span<const float> c, float alpha);

// y <- x
void assign(std::span<float> y, std::span<const float> x);

// y <- y + x
void add(std::span<float> y, std::span<const float> x);

// y <- y - x
void subtract(std::span<float> y, std::span<const float> x);

// y <- factor y
void scale(std::span<float> y, float factor);

// The same where the vectors lie, on a device or in the host's memory.
void pull_worker(const Vector& w, const Vector& c, float alpha);
void pull_centre(const Vector& c, const Vector& sum, float alpha, int workers);
void take_difference(const Vector& d, const Vector& w, const Vector& c, float alpha);
void split_off_difference(const Vector& d, const Vector& w, const Vector& c, float alpha);
void assign(const Vector& y, const Vector& x);
void add(const Vector& y, const Vector& x);
void subtract(const Vector& y, const Vector& x);
void scale(const Vector& y, float factor);

} // namespace dt::sync
