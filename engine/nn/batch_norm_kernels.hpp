// The row kernels of batch normalisation: one sample's places, 16 or 8 channels side by side, in fp32 or bfloat16 (Lanes).
#pragma once

#include "engine/nn/lanes.hpp"

#include <cstdint>

namespace dt::engine {

// Pointers to a row's first place, and its length; the places are `stride` numbers apart. Arrays of coefficients have one a lane.
template <class T>
struct NormRow {
  std::int64_t places, stride;
  const T* x;                  // what was normalised
  const T* residual = nullptr; // forward: added before the ReLU
  T* y = nullptr;              // forward: the result
  const T* result = nullptr;   // backward: the forward's result, whose sign is the ReLU's; null: a x + b's sign is
  const T* parts[4] = {};      // backward: gradients of the result, to be summed
  int count = 0;
  T* d = nullptr;  // backward: their sum behind the ReLU; null: not kept
  T* dx = nullptr; // backward: the gradient of x
};

// What a whole channel needs, a number a lane.
struct NormCoefficients {
  const float *a, *b;          // forward: y = a x + b
  const float *mean;           // backward: of x
  const float *sum, *product;  // backward: dx = a d + sum + product (x - mean)
  bool relu = false;
};

// sum += x - shift, squares += (x - shift)^2
void norm_sums(const NormRow<float>& row, int lanes, const float* shift, double* sum, double* squares);
void norm_sums(const NormRow<Bf16>& row, int lanes, const float* shift, double* sum, double* squares);
// y = a x + b + residual, perhaps max(., 0) of it
void norm_apply(const NormRow<float>& row, int lanes, const NormCoefficients& c);
void norm_apply(const NormRow<Bf16>& row, int lanes, const NormCoefficients& c);
// d = sum of the parts behind the ReLU; sum += d, product += d (x - mean)
void norm_gradient_sums(const NormRow<float>& row, int lanes, const NormCoefficients& c, double* sum, double* product);
void norm_gradient_sums(const NormRow<Bf16>& row, int lanes, const NormCoefficients& c, double* sum, double* product);
// dx = a d + sum + product (x - mean), with d from row.d, or from the parts as above where row.d is null
void norm_gradient(const NormRow<float>& row, int lanes, const NormCoefficients& c);
void norm_gradient(const NormRow<Bf16>& row, int lanes, const NormCoefficients& c);

} // namespace dt::engine
