// Kernels of batch normalisation for one row: the places of one sample for 16 or 8 adjacent channels (a block), in fp32 or
// bfloat16.
#pragma once

#include "engine/nn/kernels/simd_vector.hpp"

#include <cstdint>

namespace dt::nn {

// Pointers to a row's first place, and the row's length. Places are `stride` numbers apart. Coefficient arrays have one number
// per channel.
template<class T> struct NormRow {
  std::int64_t places, stride;
  const T* x;                  // input of the normalisation
  const T* residual = nullptr; // forward: added before the ReLU
  T* y = nullptr;              // forward: the result
  const T* result = nullptr;   // backward: the forward result, whose sign decides the ReLU; null: use the sign of a x + b
  const T* parts[4] = {};      // backward: gradients of the result, to be summed
  int count = 0;
  T* d = nullptr;  // backward: sum of the parts after the ReLU's gradient; null: not stored
  T* dx = nullptr; // backward: gradient of x
};

// Coefficients of the channels, one number per channel.
struct NormCoefficients {
  const float *a, *b;         // forward: y = a x + b
  const float* mean;          // backward: mean of x
  const float *sum, *product; // backward: dx = a d + sum + product (x - mean)
  bool relu = false;
};

// sum += x - shift, squares += (x - shift)^2
void norm_sums(const NormRow<float>& row, int block, const float* shift, double* sum, double* squares);
void norm_sums(const NormRow<Bf16>& row, int block, const float* shift, double* sum, double* squares);
// y = a x + b + residual; with relu, y = max(y, 0)
void norm_apply(const NormRow<float>& row, int block, const NormCoefficients& c);
void norm_apply(const NormRow<Bf16>& row, int block, const NormCoefficients& c);
// d = sum of the parts, after the ReLU's gradient; sum += d, product += d (x - mean)
void norm_gradient_sums(const NormRow<float>& row, int block, const NormCoefficients& c, double* sum, double* product);
void norm_gradient_sums(const NormRow<Bf16>& row, int block, const NormCoefficients& c, double* sum, double* product);
// dx = a d + sum + product (x - mean), with d from row.d; if row.d is null, d is computed from the parts as above
void norm_gradient(const NormRow<float>& row, int block, const NormCoefficients& c);
void norm_gradient(const NormRow<Bf16>& row, int block, const NormCoefficients& c);

} // namespace dt::nn
