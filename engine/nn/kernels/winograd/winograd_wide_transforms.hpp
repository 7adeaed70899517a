// The one-dimensional transforms of Winograd's minimal filtering F(4, 5): 4 results of a window of 5 weights from eight pixels
// with eight products instead of twenty [Lavin2016]. Y = A^T [(G g) . (B^T d)] for weights g, pixels d, results Y.
//
// The points are 0, the pairs p and -p of 1/2, 1 and 2, and infinity. In fp32 the results have 1.6 times the rounding errors of
// the usual F(4, 3) with the points 1 and 2, and 3.6 times those of ours (winograd_transforms.hpp).
//
// Numbers or vectors, `stride` apart, are changed in place. Use the functions only in kernels that are compiled once per
// instruction set; everything here is inlined into them.
#pragma once

namespace dt::nn {

struct WideFiltering {
  static constexpr int window = 5, results = 4, side = 8;
  static constexpr int pairs = 3;
  static constexpr float p[pairs] = {0.5F, 1, 2}, p2[pairs] = {0.25F, 1, 4}, p3[pairs] = {0.125F, 1, 8},
                         p4[pairs] = {0.0625F, 1, 16};
  // The polynomial x^6 - one x^4 + two x^2 - three has the zeros p and -p.
  static constexpr float one = p2[0] + p2[1] + p2[2], two = p2[0] * p2[1] + p2[0] * p2[2] + p2[1] * p2[2],
                         three = p2[0] * p2[1] * p2[2];
  // Sum and product of the squares of the two other pairs.
  static constexpr float others_sum[pairs] = {p2[1] + p2[2], p2[0] + p2[2], p2[0] + p2[1]};
  static constexpr float others_product[pairs] = {p2[1] * p2[2], p2[0] * p2[2], p2[0] * p2[1]};
  // Rows of G are divided by the products of the differences of the points.
  static constexpr float of_zero = -1 / three;
  static constexpr float of[pairs] = {1 / (2 * p2[0] * (p2[0] - p2[1]) * (p2[0] - p2[2])),
                                      1 / (2 * p2[1] * (p2[1] - p2[0]) * (p2[1] - p2[2])),
                                      1 / (2 * p2[2] * (p2[2] - p2[0]) * (p2[2] - p2[1]))};

  // B^T d
  template<class T> [[gnu::always_inline]] static inline void pixels_along(T* d, int stride)
  {
    const T d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride], d5 = d[5 * stride],
            d6 = d[6 * stride], d7 = d[7 * stride];
    d[0] = d6 - one * d4 + two * d2 - three * d0;
    for (int i = 0; i < pairs; ++i) {
      const T even = d6 - others_sum[i] * d4 + others_product[i] * d2;
      const T odd = p[i] * (d5 - others_sum[i] * d3 + others_product[i] * d1);
      d[(2 * i + 1) * stride] = even + odd;
      d[(2 * i + 2) * stride] = even - odd;
    }
    d[7 * stride] = d7 - one * d5 + two * d3 - three * d1;
  }

  // A^T m: the first four of eight become the results.
  template<class T> [[gnu::always_inline]] static inline void results_along(T* m, int stride)
  {
    T y0 = m[0], y1{}, y2{}, y3 = m[7 * stride];
    for (int i = 0; i < pairs; ++i) {
      const T even = m[(2 * i + 1) * stride] + m[(2 * i + 2) * stride], odd = m[(2 * i + 1) * stride] - m[(2 * i + 2) * stride];
      y0 += even, y1 += p[i] * odd, y2 += p2[i] * even, y3 += p3[i] * odd;
    }
    m[0] = y0, m[stride] = y1, m[2 * stride] = y2, m[3 * stride] = y3;
  }

  // A y: the gradients of four results become eight.
  template<class T> [[gnu::always_inline]] static inline void result_gradients_along(T* y, int stride)
  {
    const T y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
    for (int i = 0; i < pairs; ++i) {
      const T even = y0 + p2[i] * y2, odd = p[i] * y1 + p3[i] * y3;
      y[(2 * i + 1) * stride] = even + odd;
      y[(2 * i + 2) * stride] = even - odd;
    }
    y[7 * stride] = y3;
  }

  // G g: five weights become eight.
  template<class T> [[gnu::always_inline]] static inline void windows_along(T* g, int stride)
  {
    const T g0 = g[0], g1 = g[stride], g2 = g[2 * stride], g3 = g[3 * stride], g4 = g[4 * stride];
    g[0] = of_zero * g0;
    for (int i = 0; i < pairs; ++i) {
      const T even = g0 + p2[i] * g2 + p4[i] * g4, odd = p[i] * g1 + p3[i] * g3;
      g[(2 * i + 1) * stride] = of[i] * (even + odd);
      g[(2 * i + 2) * stride] = of[i] * (even - odd);
    }
    g[7 * stride] = g4;
  }

  // G^T m: eight become the gradients of five weights, the first ones.
  template<class T> [[gnu::always_inline]] static inline void window_gradients_along(T* m, int stride)
  {
    T g0 = of_zero * m[0], g1{}, g2{}, g3{}, g4 = m[7 * stride];
    for (int i = 0; i < pairs; ++i) {
      const T even = of[i] * (m[(2 * i + 1) * stride] + m[(2 * i + 2) * stride]),
              odd = of[i] * (m[(2 * i + 1) * stride] - m[(2 * i + 2) * stride]);
      g0 += even, g1 += p[i] * odd, g2 += p2[i] * even, g3 += p3[i] * odd, g4 += p4[i] * even;
    }
    m[0] = g0, m[stride] = g1, m[2 * stride] = g2, m[3 * stride] = g3, m[4 * stride] = g4;
  }
};

} // namespace dt::nn
