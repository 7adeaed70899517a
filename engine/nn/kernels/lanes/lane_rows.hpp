// Winograd's minimal filtering F(2, 5) along the rows of images in image lanes
// (engine/nn/kernels/winograd/winograd_transforms.hpp): a 5x5 convolution with 60 products for what takes 100.
#pragma once

#include "engine/nn/kernels/processor.hpp"

#include <cstddef>
#include <cstdint>

namespace dt::nn {

inline constexpr std::int64_t row_points = 6;

// Results of a row in pairs; an odd last one has none beside it.
constexpr std::int64_t row_pairs(std::int64_t width) { return (width + 1) / 2; }

// One row of one channel of `width` pixels: to[point][pair], pairs of results of which the first reads pixel 0. Pixels behind the
// row count as zeros.
void row_pixels(InstructionSet set, const float* row, std::int64_t width, std::int64_t pairs, float* to,
                std::ptrdiff_t point_stride);
// The reverse for one row of `width` results: points[point][pair] to max(. + bias, 0) or . + bias.
void row_results(InstructionSet set, const float* points, std::ptrdiff_t point_stride, std::int64_t width, float bias,
                 bool rectify, float* row);
// The adjoint of row_results without bias: a row of gradients to points.
void row_result_gradients(InstructionSet set, const float* row, std::int64_t width, float* to, std::ptrdiff_t point_stride);
// The adjoint of row_pixels: points[point][pair] of the gradient become that of a row of `width` pixels, of which the first is
// pixel `padding` of the row that the points were made of.
void row_pixel_gradients(InstructionSet set, const float* points, std::ptrdiff_t point_stride, std::int64_t pairs,
                         std::int64_t padding, std::int64_t width, float* row);
// `rows` rows of five weights for `outputs` outputs, weights[row][5][outputs], to points[6][row][outputs], and the adjoint.
void row_weights(const float* weights, std::int64_t rows, std::int64_t outputs, float* points);
void row_weight_gradients(const float* points, std::int64_t rows, std::int64_t outputs, float* weights);

} // namespace dt::nn
