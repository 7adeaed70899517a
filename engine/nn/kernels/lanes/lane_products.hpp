// Sums of products over image lanes: the arithmetic of small convolutions and inner products.
//
// Image lanes is the layout [images / 16][channel][row][column][16]: sixteen images lie side by side, so one vector holds the
// same pixel of sixteen images. oneDNN puts channels side by side instead; a layer with 1 or 6 channels leaves most of its lanes
// empty.
#pragma once

#include "engine/nn/kernels/processor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dt::nn {

inline constexpr std::int64_t image_lanes = 16;

// The terms of a sum: for each of them where its vector and its scalar lie, in floats from the first term's place.
struct Terms {
  std::vector<std::int32_t> vectors, scalars;
  void add(std::int64_t vector, std::int64_t scalar)
  {
    vectors.push_back(static_cast<std::int32_t>(vector));
    scalars.push_back(static_cast<std::int32_t>(scalar));
  }
};

// outputs x positions sums over the same terms. Strides in floats: from one output's scalars and results to the next one's, and
// from one position's vectors and results to the next one's.
struct ProductShape {
  int outputs = 1, positions = 1;
  std::ptrdiff_t scalar_stride = 1, vector_stride = image_lanes;
  std::ptrdiff_t output_stride = image_lanes, position_stride = image_lanes;
};

// results[o][p] = start[o] + sum over terms t of scalars[t, o] * vectors[t, p], a vector of sixteen numbers for each o and p;
// with `rectify`, max(., 0) of it. `start` may be null: zeros.
void lane_products(InstructionSet set, const Terms& terms, const ProductShape& shape, const float* vectors, const float* scalars,
                   const float* start, bool rectify, float* results);

// A plane of image lanes: rows x columns vectors; row_stride in floats.
struct LanePlane {
  int rows = 1, columns = 1;
  std::ptrdiff_t row_stride = image_lanes;
};

// sums[o][t] += sum over pixels of gradients[o, pixel] * images[t, pixel], for `outputs` gradients of plane_stride floats each
// and images that begin at the given places and are read in the same rows and columns. Sums are vectors.
struct CorrelationShape {
  int outputs = 1;
  LanePlane gradients;
  std::ptrdiff_t plane_stride = 0; // from one output's gradients to the next one's
  std::ptrdiff_t image_row_stride = 0, image_column_stride = image_lanes;
  std::ptrdiff_t output_stride = image_lanes, image_stride = image_lanes; // of the sums: to the next output's, and image's
};
void lane_correlations(InstructionSet set, const CorrelationShape& shape, const float* gradients, const float* images,
                       const std::int32_t* places, int count, float* sums);

// The sum of all lanes of `count` vectors.
float lane_sum(InstructionSet set, const float* vectors, std::int64_t count);

// totals[i] = sum of the sixteen lanes of vectors[i].
void lane_totals(InstructionSet set, const float* vectors, std::int64_t count, float* totals);

} // namespace dt::nn
