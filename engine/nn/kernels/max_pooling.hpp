// Maximum pooling of planes: a plane is the image of 8 or 16 adjacent channels, in fp32 or bfloat16, as in the layouts nChw8c,
// nChw16c and nhwc.
#pragma once

#include "engine/nn/kernels/processor.hpp"
#include "engine/nn/kernels/simd_vector.hpp"

#include <cstdint>

namespace dt::nn {

// Windows over a plane. What lies outside the image does not count. Each window must hold at least one pixel of the image and
// at most 256 places.
struct PlaneWindows {
  std::int64_t height = 0, width = 0;         // of the image
  std::int64_t out_height = 0, out_width = 0; // numbers of windows
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride = 1, padding = 0; // of rows and of columns
  std::int64_t block = 8;               // adjacent channels of the plane: 8 or 16
  std::int64_t pixel_stride = 8;        // numbers from a pixel to the next, in images and in results
};

// The kernels for one type of numbers. `winners` is [out_height][out_width][block]: the place of the maximum in its window, the
// first one in row-major order if several are equal. A number is larger than another if `>` says so: NaN is the maximum only
// where it is the window's first pixel.
template<class T> struct MaxPoolingKernels {
  // `winners` may be null.
  void (*pool)(const PlaneWindows& windows, const T* image, T* results, std::uint8_t* winners);
  // Writes all pixels of the image's gradient. The parts of overlapping windows are added in row-major order of the windows.
  void (*gradient)(const PlaneWindows& windows, const T* gradients, const std::uint8_t* winners, T* image_gradient);
};

// T is float or Bf16.
template<class T> const MaxPoolingKernels<T>& max_pooling_kernels(InstructionSet set);

} // namespace dt::nn
