// The one-dimensional transforms of Winograd's minimal filtering F(7 - n, n) for windows of n = 3 or 5 weights: 7 - n results
// from six pixels with six products instead of n (7 - n) [Lavin2016]. Y = A^T [(G g) . (B^T d)] for weights g, pixels d, results
// Y.
//
// The points are 0, a, -a, b, -b and infinity with a = 5/8 and b = 3/2. With the usual 1 and 2 the rounding errors of the results
// are twice as large, because the powers of the points are further apart.
//
// Numbers or vectors, `stride` apart, are changed in place. Use the functions only in kernels that are compiled once per
// instruction set; everything here is inlined into them.
#pragma once

namespace dt::nn {

inline constexpr int winograd_side = 6; // pixels and points of a tile along one dimension
constexpr int winograd_results(int window) { return winograd_side + 1 - window; }

namespace winograd {

inline constexpr float a = 0.625F, b = 1.5F, a2 = a * a, b2 = b * b, a3 = a2 * a, b3 = b2 * b, a4 = a2 * a2, b4 = b2 * b2;
// Rows of G are divided by the products of the differences of the points.
inline constexpr float of_zero = 1 / (a2 * b2), of_a = 1 / (2 * a2 * (a2 - b2)), of_b = 1 / (2 * b2 * (b2 - a2));

} // namespace winograd

// B^T d
template<class T> [[gnu::always_inline]] inline void pixels_along(T* d, int stride)
{
  using namespace winograd;
  const auto d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride], d5 = d[5 * stride];
  const auto even_a = d4 - b2 * d2, odd_a = d3 - b2 * d1, even_b = d4 - a2 * d2, odd_b = d3 - a2 * d1;
  d[0] = a2 * b2 * d0 - (a2 + b2) * d2 + d4;
  d[stride] = even_a + a * odd_a;
  d[2 * stride] = even_a - a * odd_a;
  d[3 * stride] = even_b + b * odd_b;
  d[4 * stride] = even_b - b * odd_b;
  d[5 * stride] = a2 * b2 * d1 - (a2 + b2) * d3 + d5;
}

// A^T m: the first of six become the results.
template<int Window, class T> [[gnu::always_inline]] inline void results_along(T* m, int stride)
{
  using namespace winograd;
  const auto m0 = m[0], m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride], m4 = m[4 * stride], m5 = m[5 * stride];
  const auto even_a = m1 + m2, odd_a = m1 - m2, even_b = m3 + m4, odd_b = m3 - m4;
  m[0] = m0 + even_a + even_b;
  if constexpr (Window == 5) {
    m[stride] = a * odd_a + b * odd_b + m5;
  } else {
    m[stride] = a * odd_a + b * odd_b;
    m[2 * stride] = a2 * even_a + b2 * even_b;
    m[3 * stride] = a3 * odd_a + b3 * odd_b + m5;
  }
}

// A y: the results' gradients become six.
template<int Window, class T> [[gnu::always_inline]] inline void result_gradients_along(T* y, int stride)
{
  using namespace winograd;
  T even_a = y[0], odd_a = a * y[stride], even_b = y[0], odd_b = b * y[stride];
  if constexpr (Window == 3) {
    even_a += a2 * y[2 * stride], odd_a += a3 * y[3 * stride];
    even_b += b2 * y[2 * stride], odd_b += b3 * y[3 * stride];
  }
  y[5 * stride] = y[(winograd_results(Window) - 1) * stride];
  y[stride] = even_a + odd_a;
  y[2 * stride] = even_a - odd_a;
  y[3 * stride] = even_b + odd_b;
  y[4 * stride] = even_b - odd_b;
}

// G g: the window's weights become six.
template<int Window, class T> [[gnu::always_inline]] inline void windows_along(T* g, int stride)
{
  using namespace winograd;
  T even_a = g[0] + a2 * g[2 * stride], odd_a = a * g[stride], even_b = g[0] + b2 * g[2 * stride], odd_b = b * g[stride];
  if constexpr (Window == 5) {
    even_a += a4 * g[4 * stride], odd_a += a3 * g[3 * stride];
    even_b += b4 * g[4 * stride], odd_b += b3 * g[3 * stride];
  }
  g[5 * stride] = g[(Window - 1) * stride];
  g[0] = of_zero * g[0];
  g[stride] = of_a * (even_a + odd_a);
  g[2 * stride] = of_a * (even_a - odd_a);
  g[3 * stride] = of_b * (even_b + odd_b);
  g[4 * stride] = of_b * (even_b - odd_b);
}

// G^T m: six become the gradients of the window's weights, the first ones.
template<int Window, class T> [[gnu::always_inline]] inline void window_gradients_along(T* m, int stride)
{
  using namespace winograd;
  const auto even_a = of_a * (m[stride] + m[2 * stride]), odd_a = of_a * (m[stride] - m[2 * stride]);
  const auto even_b = of_b * (m[3 * stride] + m[4 * stride]), odd_b = of_b * (m[3 * stride] - m[4 * stride]);
  const auto m5 = m[5 * stride];
  m[0] = of_zero * m[0] + even_a + even_b;
  m[stride] = a * odd_a + b * odd_b;
  m[2 * stride] = a2 * even_a + b2 * even_b;
  if constexpr (Window == 5) {
    m[3 * stride] = a3 * odd_a + b3 * odd_b;
    m[4 * stride] = a4 * even_a + b4 * even_b;
  }
  m[(Window - 1) * stride] += m5;
}

} // namespace dt::nn
