#include "engine/nn/kernels/batch_norm_kernels.hpp"

#include "core/maths/function_clones.hpp"

namespace dt::nn {
namespace {

// Number of places that are summed in fp32 before the sum is added to a double, to limit rounding errors.
constexpr std::int64_t block = 256;

template<int L> using Floats = typename SimdVector<L>::Floats;

template<int L> [[gnu::always_inline]] inline void add_to(double* sums, Floats<L> values)
{
  for (int l = 0; l < L; ++l) sums[l] += static_cast<double>(values[l]);
}

template<int L, class T>
[[gnu::always_inline]] inline void sums_of(const NormRow<T>& row, const float* shift, double* sum, double* squares)
{
  using V = SimdVector<L>;
  const auto k = V::load(shift);
  for (std::int64_t begin = 0; begin < row.places; begin += block) {
    const auto end = begin + block < row.places ? begin + block : row.places;
    Floats<L> s0{}, s1{}, q0{}, q1{};
    std::int64_t i = begin;
    for (; i + 1 < end; i += 2) {
      const auto u = V::load(row.x + i * row.stride) - k, v = V::load(row.x + (i + 1) * row.stride) - k;
      s0 += u, s1 += v, q0 += u * u, q1 += v * v;
    }
    if (i < end) {
      const auto u = V::load(row.x + i * row.stride) - k;
      s0 += u, q0 += u * u;
    }
    add_to<L>(sum, s0 + s1);
    add_to<L>(squares, q0 + q1);
  }
}

template<int L, class T, bool residual, bool relu>
[[gnu::always_inline]] inline void apply_to(const NormRow<T>& row, const NormCoefficients& c)
{
  using V = SimdVector<L>;
  const auto a = V::load(c.a), b = V::load(c.b);
  for (std::int64_t i = 0; i < row.places; ++i) {
    auto y = a * V::load(row.x + i * row.stride) + b;
    if constexpr (residual) y += V::load(row.residual + i * row.stride);
    if constexpr (relu) y = y > 0 ? y : Floats<L>{};
    V::store(y, row.y + i * row.stride);
  }
}

template<int L, class T> [[gnu::always_inline]] inline void apply_any(const NormRow<T>& row, const NormCoefficients& c)
{
  if (row.residual != nullptr) return c.relu ? apply_to<L, T, true, true>(row, c) : apply_to<L, T, true, false>(row, c);
  return c.relu ? apply_to<L, T, false, true>(row, c) : apply_to<L, T, false, false>(row, c);
}

enum class Mask { none, by_result, by_input };

// The gradient at one place, after the ReLU's gradient.
template<int L, class T, int count, Mask mask> struct GradientAt {
  using V = SimdVector<L>;
  const NormRow<T>& row;
  Floats<L> a, b, mean;
  [[gnu::always_inline]] GradientAt(const NormRow<T>& r, const NormCoefficients& c)
      : row(r), a(V::load(c.a)), b(V::load(c.b)), mean(V::load(c.mean))
  {
  }
  [[gnu::always_inline]] Floats<L> operator()(std::int64_t at, Floats<L> x) const
  {
    auto d = V::load(row.parts[0] + at);
    if constexpr (count > 1) d += V::load(row.parts[1] + at);
    if constexpr (count > 2)
      for (int part = 2; part < row.count; ++part) d += V::load(row.parts[part] + at);
    if constexpr (mask == Mask::by_result) d = V::load(row.result + at) > 0 ? d : Floats<L>{};
    if constexpr (mask == Mask::by_input) d = a * x + b > 0 ? d : Floats<L>{};
    return d;
  }
};

template<int L, class T, int count, Mask mask>
[[gnu::always_inline]] inline void gradient_sums(const NormRow<T>& row, const NormCoefficients& c, double* sum, double* product)
{
  using V = SimdVector<L>;
  const GradientAt<L, T, count, mask> gradient(row, c);
  for (std::int64_t begin = 0; begin < row.places; begin += block) {
    const auto end = begin + block < row.places ? begin + block : row.places;
    Floats<L> s{}, p{};
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = i * row.stride;
      const auto x = V::load(row.x + at);
      const auto d = gradient(at, x);
      if (row.d != nullptr) V::store(d, row.d + at);
      s += d, p += d * (x - gradient.mean);
    }
    add_to<L>(sum, s);
    add_to<L>(product, p);
  }
}

template<int L, class T, int count, Mask mask>
[[gnu::always_inline]] inline void gradient_of(const NormRow<T>& row, const NormCoefficients& c)
{
  using V = SimdVector<L>;
  const GradientAt<L, T, count, mask> gradient(row, c);
  const auto sum = V::load(c.sum), product = V::load(c.product);
  for (std::int64_t i = 0; i < row.places; ++i) {
    const auto at = i * row.stride;
    const auto x = V::load(row.x + at);
    V::store(gradient.a * gradient(at, x) + sum + product * (x - gradient.mean), row.dx + at);
  }
}

// Uses the stored gradient d: a single part to which the ReLU's gradient is already applied.
template<int L, class T> [[gnu::always_inline]] inline void kept_gradient_of(NormRow<T> row, const NormCoefficients& c)
{
  row.parts[0] = row.d;
  gradient_of<L, T, 1, Mask::none>(row, c);
}

template<class T> Mask mask_of(const NormRow<T>& row, const NormCoefficients& c)
{
  if (!c.relu) return Mask::none;
  return row.result != nullptr ? Mask::by_result : Mask::by_input;
}

// Calls f.operator()<count, mask>() for the row's count and mask.
template<class T, class F>
[[gnu::always_inline]] inline void dispatch(const NormRow<T>& row, const NormCoefficients& c, const F& f)
{
  const auto mask = mask_of(row, c);
  if (row.count == 1 && mask == Mask::none) return f.template operator()<1, Mask::none>();
  if (row.count == 1 && mask == Mask::by_input) return f.template operator()<1, Mask::by_input>();
  if (row.count == 1) return f.template operator()<1, Mask::by_result>();
  if (row.count == 2 && mask == Mask::none) return f.template operator()<2, Mask::none>();
  if (row.count == 2 && mask == Mask::by_input) return f.template operator()<2, Mask::by_input>();
  if (row.count == 2) return f.template operator()<2, Mask::by_result>();
  if (mask == Mask::none) return f.template operator()<3, Mask::none>();
  if (mask == Mask::by_input) return f.template operator()<3, Mask::by_input>();
  return f.template operator()<3, Mask::by_result>();
}

template<int L, class T>
[[gnu::always_inline]] inline void any_gradient_sums(const NormRow<T>& row, const NormCoefficients& c, double* sum,
                                                     double* product)
{
  const auto run = [&]<int count, Mask mask>() __attribute__((always_inline))
  {
    gradient_sums<L, T, count, mask>(row, c, sum, product);
  };
  dispatch(row, c, run);
}

template<int L, class T> [[gnu::always_inline]] inline void any_gradient(const NormRow<T>& row, const NormCoefficients& c)
{
  if (row.d != nullptr) return kept_gradient_of<L, T>(row, c);
  const auto run = [&]<int count, Mask mask>() __attribute__((always_inline)) { gradient_of<L, T, count, mask>(row, c); };
  dispatch(row, c, run);
}

} // namespace

// Defines the kernels for one type. Each is compiled for both widths and for every instruction set.
#define DT_ROW_KERNELS(T)                                                                                                        \
  DT_CLONES void norm_sums(const NormRow<T>& row, int block, const float* shift, double* sum, double* squares)                   \
  {                                                                                                                              \
    block == 16 ? sums_of<16>(row, shift, sum, squares) : sums_of<8>(row, shift, sum, squares);                                  \
  }                                                                                                                              \
  DT_CLONES void norm_apply(const NormRow<T>& row, int block, const NormCoefficients& c)                                         \
  {                                                                                                                              \
    block == 16 ? apply_any<16>(row, c) : apply_any<8>(row, c);                                                                  \
  }                                                                                                                              \
  DT_CLONES void norm_gradient_sums(const NormRow<T>& row, int block, const NormCoefficients& c, double* sum, double* product)   \
  {                                                                                                                              \
    block == 16 ? any_gradient_sums<16>(row, c, sum, product) : any_gradient_sums<8>(row, c, sum, product);                      \
  }                                                                                                                              \
  DT_CLONES void norm_gradient(const NormRow<T>& row, int block, const NormCoefficients& c)                                      \
  {                                                                                                                              \
    block == 16 ? any_gradient<16>(row, c) : any_gradient<8>(row, c);                                                            \
  }

DT_ROW_KERNELS(float)
DT_ROW_KERNELS(Bf16)
#undef DT_ROW_KERNELS

} // namespace dt::nn
