#include "engine/nn/kernels/lane_rows.hpp"

#include "core/function_clones.hpp"
#include "engine/nn/kernels/lane_products.hpp"
#include "engine/nn/kernels/lanes.hpp"
#include "engine/nn/kernels/winograd_transforms.hpp"

#include <limits>

namespace dt::nn {
namespace {

constexpr int lanes = static_cast<int>(image_lanes), points = static_cast<int>(row_points);
constexpr int window = 5;
constexpr std::int64_t weights_in_row = window;

template<int L>
[[gnu::always_inline]] inline void pixels_of(const float* row, std::int64_t width, std::int64_t pairs, float* to,
                                             std::ptrdiff_t point_stride)
{
  using Vector = Lanes<L>;
  for (std::int64_t pair = 0; pair < pairs; ++pair)
    for (int lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats d[points];
      for (int i = 0; i < points; ++i)
        d[i] = 2 * pair + i < width ? Vector::load(row + (2 * pair + i) * lanes + lane) : typename Vector::Floats{};
      pixels_along(d, 1);
      for (int point = 0; point < points; ++point) Vector::store(d[point], to + point * point_stride + pair * lanes + lane);
    }
}

template<int L>
[[gnu::always_inline]] inline void results_of(const float* from, std::ptrdiff_t point_stride, std::int64_t width, float bias,
                                              float least, float* row)
{
  using Vector = Lanes<L>;
  const auto biases = Vector::all(bias), smallest = Vector::all(least);
  for (std::int64_t pair = 0; pair < row_pairs(width); ++pair)
    for (int lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats m[points];
      for (int point = 0; point < points; ++point) m[point] = Vector::load(from + point * point_stride + pair * lanes + lane);
      results_along<window>(m, 1);
      for (int i = 0; i < 2 && 2 * pair + i < width; ++i) {
        const auto value = m[i] + biases;
        Vector::store(smallest > value ? smallest : value, row + (2 * pair + i) * lanes + lane); // NaN stays
      }
    }
}

template<int L>
[[gnu::always_inline]] inline void result_gradients_of(const float* row, std::int64_t width, float* to,
                                                       std::ptrdiff_t point_stride)
{
  using Vector = Lanes<L>;
  for (std::int64_t pair = 0; pair < row_pairs(width); ++pair)
    for (int lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats y[points];
      y[0] = Vector::load(row + 2 * pair * lanes + lane);
      y[1] = 2 * pair + 1 < width ? Vector::load(row + (2 * pair + 1) * lanes + lane) : typename Vector::Floats{};
      result_gradients_along<window>(y, 1);
      for (int point = 0; point < points; ++point) Vector::store(y[point], to + point * point_stride + pair * lanes + lane);
    }
}

} // namespace

void row_pixels(InstructionSet set, const float* row, std::int64_t width, std::int64_t pairs, float* to,
                std::ptrdiff_t point_stride)
{
  with_lanes_of(set, [&](auto l) __attribute__((always_inline)) { pixels_of<l()>(row, width, pairs, to, point_stride); });
}

void row_results(InstructionSet set, const float* from, std::ptrdiff_t point_stride, std::int64_t width, float bias, bool rectify,
                 float* row)
{
  const float least = rectify ? 0.0F : -std::numeric_limits<float>::infinity();
  with_lanes_of(set,
                [&](auto l) __attribute__((always_inline)) { results_of<l()>(from, point_stride, width, bias, least, row); });
}

void row_result_gradients(InstructionSet set, const float* row, std::int64_t width, float* to, std::ptrdiff_t point_stride)
{
  with_lanes_of(set, [&](auto l) __attribute__((always_inline)) { result_gradients_of<l()>(row, width, to, point_stride); });
}

DT_CLONES void row_weights(const float* weights, std::int64_t rows, std::int64_t outputs, float* to)
{
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t output = 0; output < outputs; ++output) {
      float g[points];
      for (std::int64_t i = 0; i < weights_in_row; ++i) g[i] = weights[(row * weights_in_row + i) * outputs + output];
      windows_along<window>(g, 1);
      for (int point = 0; point < points; ++point) to[(point * rows + row) * outputs + output] = g[point];
    }
}

DT_CLONES void row_weight_gradients(const float* from, std::int64_t rows, std::int64_t outputs, float* weights)
{
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t output = 0; output < outputs; ++output) {
      float m[points];
      for (int point = 0; point < points; ++point) m[point] = from[(point * rows + row) * outputs + output];
      window_gradients_along<window>(m, 1);
      for (std::int64_t i = 0; i < weights_in_row; ++i) weights[(row * weights_in_row + i) * outputs + output] = m[i];
    }
}

} // namespace dt::nn
