#include "engine/nn/kernels/lanes/lane_rows.hpp"

#include "core/maths/function_clones.hpp"
#include "engine/nn/kernels/lanes/lane_products.hpp"
#include "engine/nn/kernels/simd_vector.hpp"
#include "engine/nn/kernels/winograd/winograd_transforms.hpp"

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
  using Vector = SimdVector<L>;
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
  using Vector = SimdVector<L>;
  const auto smallest = typename Vector::Floats{} + least;
  for (std::int64_t pair = 0; pair < row_pairs(width); ++pair)
    for (int lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats m[points];
      for (int point = 0; point < points; ++point) m[point] = Vector::load(from + point * point_stride + pair * lanes + lane);
      results_along<window>(m, 1);
      for (int i = 0; i < 2 && 2 * pair + i < width; ++i) {
        const auto value = m[i] + bias;
        Vector::store(smallest > value ? smallest : value, row + (2 * pair + i) * lanes + lane); // NaN stays
      }
    }
}

template<int L>
[[gnu::always_inline]] inline void result_gradients_of(const float* row, std::int64_t width, float* to,
                                                       std::ptrdiff_t point_stride)
{
  using Vector = SimdVector<L>;
  for (std::int64_t pair = 0; pair < row_pairs(width); ++pair)
    for (int lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats y[points];
      y[0] = Vector::load(row + 2 * pair * lanes + lane);
      y[1] = 2 * pair + 1 < width ? Vector::load(row + (2 * pair + 1) * lanes + lane) : typename Vector::Floats{};
      result_gradients_along<window>(y, 1);
      for (int point = 0; point < points; ++point) Vector::store(y[point], to + point * point_stride + pair * lanes + lane);
    }
}

// The adjoint of pixels_along: B g.
template<class T> [[gnu::always_inline]] inline void pixel_gradients_along(T* g)
{
  using namespace winograd;
  const auto g0 = g[0], even_a = g[1] + g[2], odd_a = a * (g[1] - g[2]), even_b = g[3] + g[4], odd_b = b * (g[3] - g[4]);
  const auto g5 = g[5];
  g[0] = a2 * b2 * g0;
  g[1] = a2 * b2 * g5 - b2 * odd_a - a2 * odd_b;
  g[2] = -(a2 + b2) * g0 - b2 * even_a - a2 * even_b;
  g[3] = odd_a + odd_b - (a2 + b2) * g5;
  g[4] = g0 + even_a + even_b;
}

// A pair has a part of six pixels, and shares four of them with the next one.
template<int L>
[[gnu::always_inline]] inline void pixel_gradients_of(const float* from, std::ptrdiff_t point_stride, std::int64_t pairs,
                                                      std::int64_t padding, std::int64_t width, float* row)
{
  using Vector = SimdVector<L>;
  for (int lane = 0; lane < lanes; lane += L) {
    typename Vector::Floats shared[points - 2];
    for (auto& pixel : shared) pixel = typename Vector::Floats{};
    const auto store = [&](typename Vector::Floats value, std::int64_t pixel) __attribute__((always_inline))
    {
      if (pixel >= padding && pixel < padding + width) Vector::store(value, row + (pixel - padding) * lanes + lane);
    };
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      typename Vector::Floats g[points];
      for (int point = 0; point < points; ++point) g[point] = Vector::load(from + point * point_stride + pair * lanes + lane);
      pixel_gradients_along(g);
      store(shared[0] + g[0], 2 * pair);
      store(shared[1] + g[1], 2 * pair + 1);
      shared[0] = shared[2] + g[2];
      shared[1] = shared[3] + g[3];
      shared[2] = g[4];
      shared[3] = g[5];
    }
    for (int i = 0; i < points - 2; ++i) store(shared[i], 2 * pairs + i);
  }
}

} // namespace

void row_pixel_gradients(InstructionSet set, const float* from, std::ptrdiff_t point_stride, std::int64_t pairs,
                         std::int64_t padding, std::int64_t width, float* row)
{
  with_vectors_of(
      set, [&](auto l)
               __attribute__((always_inline)) { pixel_gradients_of<l()>(from, point_stride, pairs, padding, width, row); });
}

void row_pixels(InstructionSet set, const float* row, std::int64_t width, std::int64_t pairs, float* to,
                std::ptrdiff_t point_stride)
{
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { pixels_of<l()>(row, width, pairs, to, point_stride); });
}

void row_results(InstructionSet set, const float* from, std::ptrdiff_t point_stride, std::int64_t width, float bias, bool rectify,
                 float* row)
{
  const float least = rectify ? 0.0F : -std::numeric_limits<float>::infinity();
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { results_of<l()>(from, point_stride, width, bias, least, row); });
}

void row_result_gradients(InstructionSet set, const float* row, std::int64_t width, float* to, std::ptrdiff_t point_stride)
{
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { result_gradients_of<l()>(row, width, to, point_stride); });
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
