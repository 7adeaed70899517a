// The one-dimensional transforms of Winograd's minimal filtering F(2, 5): two results of five weights from six pixels with six
// products instead of ten [Lavin2016]. Y = A^T [(G g) . (B^T d)] for weights g, pixels d, results Y; the points are 0, 1, -1, 2,
// -2 and infinity. Numbers or vectors, `stride` apart, are changed in place. Use them only in kernels that are compiled once per
// instruction set (DT_CLONES); everything here is inlined into them.
#pragma once

namespace dt::nn {

// B^T d
template<class T> [[gnu::always_inline]] inline void pixels_along(T* d, int stride)
{
  const auto d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride], d5 = d[5 * stride];
  const auto even = d4 - 4 * d2, odd = d3 - 4 * d1, near_even = d4 - d2, near_odd = 2 * (d3 - d1);
  d[0] = 4 * d0 - 5 * d2 + d4;
  d[stride] = even + odd;
  d[2 * stride] = even - odd;
  d[3 * stride] = near_even + near_odd;
  d[4 * stride] = near_even - near_odd;
  d[5 * stride] = 4 * d1 - 5 * d3 + d5;
}

// A^T m: the first two of six become the result.
template<class T> [[gnu::always_inline]] inline void results_along(T* m, int stride)
{
  const auto m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride], m4 = m[4 * stride];
  m[0] = m[0] + (m1 + m2) + (m3 + m4);
  m[stride] = (m1 - m2) + 2 * (m3 - m4) + m[5 * stride];
}

// A y: the first two become six.
template<class T> [[gnu::always_inline]] inline void result_gradients_along(T* y, int stride)
{
  const auto y0 = y[0], y1 = y[stride];
  y[stride] = y0 + y1;
  y[2 * stride] = y0 - y1;
  y[3 * stride] = y0 + 2 * y1;
  y[4 * stride] = y0 - 2 * y1;
  y[5 * stride] = y1;
}

// G g: the first five become six.
template<class T> [[gnu::always_inline]] inline void windows_along(T* g, int stride)
{
  const auto g0 = g[0], g1 = g[stride], g2 = g[2 * stride], g3 = g[3 * stride], g4 = g[4 * stride];
  const auto even = (g0 + g2 + g4) * (-1.0F / 6), odd = (g1 + g3) * (-1.0F / 6);
  const auto far_even = (g0 + 4 * g2 + 16 * g4) * (1.0F / 24), far_odd = (g1 + 4 * g3) * (1.0F / 12);
  g[0] = g0 * 0.25F;
  g[stride] = even + odd;
  g[2 * stride] = even - odd;
  g[3 * stride] = far_even + far_odd;
  g[4 * stride] = far_even - far_odd;
  g[5 * stride] = g4;
}

// G^T m: six become the first five.
template<class T> [[gnu::always_inline]] inline void window_gradients_along(T* m, int stride)
{
  const auto near = (m[stride] + m[2 * stride]) * (-1.0F / 6), near_difference = (m[stride] - m[2 * stride]) * (-1.0F / 6);
  const auto far = (m[3 * stride] + m[4 * stride]) * (1.0F / 24), far_difference = (m[3 * stride] - m[4 * stride]) * (1.0F / 12);
  const auto m5 = m[5 * stride];
  m[0] = m[0] * 0.25F + near + far;
  m[stride] = near_difference + far_difference;
  m[2 * stride] = near + 4 * far;
  m[3 * stride] = near_difference + 4 * far_difference;
  m[4 * stride] = near + 16 * far + m5;
}

} // namespace dt::nn
