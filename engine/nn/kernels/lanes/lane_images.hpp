// Copies between plain images and image lanes, and pooling in image lanes.
#pragma once

#include "engine/model/tensor.hpp"
#include "engine/nn/kernels/lanes/lane_products.hpp"

#include <cstdint>

namespace dt::nn {

using model::Shape;

// Number of groups of sixteen images that a batch fills; the last may have empty lanes.
constexpr std::int64_t lane_groups(std::int64_t batch) { return (batch + image_lanes - 1) / image_lanes; }

// A matrix of rows x columns floats with row_stride: to transposed[column][16], one lane for each row. rows is at most 16; the
// lanes of missing rows become 0.
void transpose_to_lanes(InstructionSet set, const float* plain, std::int64_t rows, std::int64_t row_stride, std::int64_t columns,
                        float* transposed);
// The reverse: lanes[column][16] to sixteen rows of `columns` floats. Columns up to the next multiple of 16 become 0, so a row
// needs that much space.
void transpose_from_lanes(InstructionSet set, const float* lanes, std::int64_t columns, std::int64_t row_stride, float* plain);

// One group of images with a border of zeros: [channel][height + 2 border][width + 2 border][16].
void pad_plain_images(InstructionSet set, const float* images, std::int64_t count, const Shape& shape, std::int64_t border,
                      float* padded);
void pad_lane_images(const float* lanes, const Shape& shape, std::int64_t border, float* padded);

// Windows of a pooling layer over images of one shape.
struct PoolingWindows {
  Shape input, output;
  std::int64_t kernel = 2, stride = 2, padding = 0;
  bool mean = false;                              // over the pixels that are not padding; otherwise the maximum
  bool rectified = false;                         // the images are results of a ReLU, whose gradient is computed too
  bool apart() const { return stride >= kernel; } // no pixel is in two windows
  // Every pixel is in exactly one window.
  bool cover() const
  {
    return stride == kernel && padding == 0 && output.height * kernel >= input.height && output.width * kernel >= input.width;
  }
};

// In the place of a winner: no pixel gets a gradient.
inline constexpr std::uint8_t no_winner = 255;

// One group of images. `winners` gets for each result the place of its maximum, kernel * row + column of the window, as a byte:
// the first of equal ones, no_winner where a rectified maximum is 0. Unused for means.
void pool_lanes(InstructionSet set, const PoolingWindows& windows, const float* images, float* results, std::uint8_t* winners);
// The gradient of the images, overwritten.
void unpool_lanes(InstructionSet set, const PoolingWindows& windows, const float* gradients, const std::uint8_t* winners,
                  float* image_gradients);
// Sum of all lanes of `count` vectors of gradients, without those of windows that have no winner.
float sum_of_winners(InstructionSet set, const float* gradients, const std::uint8_t* winners, std::int64_t count);

} // namespace dt::nn
