#include "engine/nn/kernels/block_products.hpp"

#include "core/maths/function_clones.hpp"
#include "engine/nn/kernels/parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dt::nn {
namespace {

constexpr int block = static_cast<int>(block_channels);

// ---- a tile of Rows x 16 sums in registers, L numbers in each ----

template<int L, int Rows> using Sums = typename SimdVector<L>::Floats[Rows][block / L];

// One step: sums[r] += scalars[r * stride] * vector.
template<int L, int Rows>
[[gnu::always_inline]] inline void add_products(Sums<L, Rows>& sums, const float* scalars, std::ptrdiff_t stride,
                                                const float* vector)
{
  typename SimdVector<L>::Floats values[block / L];
  for (int v = 0; v < block / L; ++v) values[v] = SimdVector<L>::load(vector + v * L);
  for (int r = 0; r < Rows; ++r) {
    const float factor = scalars[r * stride];
    for (int v = 0; v < block / L; ++v) sums[r][v] += factor * values[v];
  }
}

// Loops, because GCC 12 would clear an initialised array in memory at each call.
template<int L, int Rows>
[[gnu::always_inline]] inline void start_sums(Sums<L, Rows>& sums, bool accumulate, const float* results)
{
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < block / L; ++v)
      sums[r][v] = accumulate ? SimdVector<L>::load(results + r * block + v * L) : typename SimdVector<L>::Floats{};
}

template<int L, int Rows> [[gnu::always_inline]] inline void store_sums(const Sums<L, Rows>& sums, float* results)
{
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < block / L; ++v) SimdVector<L>::store(sums[r][v], results + r * block + v * L);
}

template<int L, int Rows>
[[gnu::always_inline]] inline void sum_channels_of(const ChannelSums& shape, const float* scalars, const float* vectors,
                                                   float* results)
{
  Sums<L, Rows> sums;
  start_sums<L, Rows>(sums, shape.accumulate, results);
  for (std::int64_t o = 0; o < shape.outer; ++o, scalars += shape.scalar_stride, vectors += block * block)
#pragma GCC unroll 16
    for (int i = 0; i < block; ++i) add_products<L, Rows>(sums, scalars + i, block, vectors + i * block);
  store_sums<L, Rows>(sums, results);
}

template<int L, int Rows>
[[gnu::always_inline]] inline void sum_rows_of(const RowSums& shape, const float* scalars, const float* vectors, float* results)
{
  Sums<L, Rows> sums;
  start_sums<L, Rows>(sums, shape.accumulate, results);
#pragma GCC unroll 4
  for (std::int64_t row = 0; row < shape.rows; ++row)
    add_products<L, Rows>(sums, scalars + row * block, 1, vectors + row * block);
  store_sums<L, Rows>(sums, results);
}

// In steps of exchanging halves: 8, 4, 2 and 1 rows apart.
[[gnu::always_inline]] inline void transpose_block(const float* from, float* to)
{
  constexpr int half = 8;
  using Floats = SimdVector<half>::Floats;
  typedef std::int32_t Indices __attribute__((vector_size(32)));
  for (int top = 0; top < block; top += half)
    for (int left = 0; left < block; left += half) {
      Floats rows[half], next[half];
      for (int r = 0; r < half; ++r) rows[r] = SimdVector<half>::load(from + (top + r) * block + left);
      for (int r = 0; r < half; r += 2) {
        next[r] = __builtin_shuffle(rows[r], rows[r + 1], Indices{0, 8, 2, 10, 4, 12, 6, 14});
        next[r + 1] = __builtin_shuffle(rows[r], rows[r + 1], Indices{1, 9, 3, 11, 5, 13, 7, 15});
      }
      for (int r = 0; r < half; r += 4)
        for (int i = 0; i < 2; ++i) {
          rows[r + i] = __builtin_shuffle(next[r + i], next[r + i + 2], Indices{0, 1, 8, 9, 4, 5, 12, 13});
          rows[r + i + 2] = __builtin_shuffle(next[r + i], next[r + i + 2], Indices{2, 3, 10, 11, 6, 7, 14, 15});
        }
      for (int i = 0; i < 4; ++i) {
        SimdVector<half>::store(__builtin_shuffle(rows[i], rows[i + 4], Indices{0, 1, 2, 3, 8, 9, 10, 11}),
                                to + (left + i) * block + top);
        SimdVector<half>::store(__builtin_shuffle(rows[i], rows[i + 4], Indices{4, 5, 6, 7, 12, 13, 14, 15}),
                                to + (left + i + 4) * block + top);
      }
    }
}

// ---- instruction sets ----

// The kernels compiled for one instruction set. `rows`: of sums that fit into the registers together with what is multiplied.
template<InstructionSet Set> struct Compiled;

template<> struct Compiled<InstructionSet::avx512> {
  static constexpr int rows = 14;
  template<int Rows> DT_AVX512 static void sum_channels(const ChannelSums& a, const float* b, const float* c, float* d)
  {
    sum_channels_of<16, Rows>(a, b, c, d);
  }
  template<int Rows> DT_AVX512 static void sum_rows(const RowSums& a, const float* b, const float* c, float* d)
  {
    sum_rows_of<16, Rows>(a, b, c, d);
  }
  DT_AVX512 static void transpose(const float* a, float* b) { transpose_block(a, b); }
};

template<> struct Compiled<InstructionSet::avx2> {
  static constexpr int rows = 6;
  template<int Rows> DT_AVX2 static void sum_channels(const ChannelSums& a, const float* b, const float* c, float* d)
  {
    sum_channels_of<8, Rows>(a, b, c, d);
  }
  template<int Rows> DT_AVX2 static void sum_rows(const RowSums& a, const float* b, const float* c, float* d)
  {
    sum_rows_of<8, Rows>(a, b, c, d);
  }
  DT_AVX2 static void transpose(const float* a, float* b) { transpose_block(a, b); }
};

template<> struct Compiled<InstructionSet::plain> {
  static constexpr int rows = 3;
  template<int Rows> static void sum_channels(const ChannelSums& a, const float* b, const float* c, float* d)
  {
    sum_channels_of<4, Rows>(a, b, c, d);
  }
  template<int Rows> static void sum_rows(const RowSums& a, const float* b, const float* c, float* d)
  {
    sum_rows_of<4, Rows>(a, b, c, d);
  }
  static void transpose(const float* a, float* b) { transpose_block(a, b); }
};

// Kernels by their number of rows, from 1 on.
template<InstructionSet Set, std::size_t... I> constexpr auto channel_tiles(std::index_sequence<I...>)
{
  return std::array{&Compiled<Set>::template sum_channels<static_cast<int>(I) + 1>...};
}

template<InstructionSet Set, std::size_t... I> constexpr auto row_tiles(std::index_sequence<I...>)
{
  return std::array{&Compiled<Set>::template sum_rows<static_cast<int>(I) + 1>...};
}

template<InstructionSet Set>
void sum_channels(const ChannelSums& shape, const float* scalars, const float* vectors, float* results)
{
  constexpr std::int64_t most = Compiled<Set>::rows;
  static constexpr auto tiles = channel_tiles<Set>(std::make_index_sequence<most>());
  for_parts(shape.rows, most, [&](std::int64_t first, std::int64_t rows) {
    tiles[static_cast<std::size_t>(rows - 1)](shape, scalars + first * block, vectors, results + first * block);
  });
}

// Parts of the rows whose scalars and vectors stay in the first cache while all scalars have their turn.
template<InstructionSet Set> void sum_rows(const RowSums& shape, const float* scalars, const float* vectors, float* results)
{
  constexpr std::int64_t most = Compiled<Set>::rows;
  constexpr std::int64_t rows_at_once = 128;
  static constexpr auto tiles = row_tiles<Set>(std::make_index_sequence<most>());
  for_parts(shape.rows, rows_at_once, [&](std::int64_t row, std::int64_t rows) {
    const RowSums part{rows, shape.accumulate || row > 0};
    for_parts(block_channels, most, [&](std::int64_t first, std::int64_t count) {
      tiles[static_cast<std::size_t>(count - 1)](part, scalars + row * block + first, vectors + row * block,
                                                 results + first * block);
    });
  });
}

template<InstructionSet Set> const BlockKernels& kernels_of()
{
  static constexpr BlockKernels kernels{sum_channels<Set>, sum_rows<Set>, Compiled<Set>::transpose};
  return kernels;
}

template<int L, class T> [[gnu::always_inline]] inline void add_pixels_of(const T* pixels, std::int64_t count, float* sums)
{
  auto sum = SimdVector<L>::load(sums);
  for (std::int64_t pixel = 0; pixel < count; ++pixel) sum += SimdVector<L>::load(pixels + pixel * L);
  SimdVector<L>::store(sum, sums);
}

} // namespace

const BlockKernels& block_kernels(InstructionSet set)
{
  switch (set) {
  case InstructionSet::avx512:
    return kernels_of<InstructionSet::avx512>();
  case InstructionSet::avx2:
    return kernels_of<InstructionSet::avx2>();
  case InstructionSet::plain:
    break;
  }
  return kernels_of<InstructionSet::plain>();
}

DT_CLONES void add_pixels(const float* pixels, std::int64_t count, std::int64_t channels, float* sums)
{
  return channels == block ? add_pixels_of<block>(pixels, count, sums) : add_pixels_of<8>(pixels, count, sums);
}

DT_CLONES void add_pixels(const Bf16* pixels, std::int64_t count, std::int64_t channels, float* sums)
{
  return channels == block ? add_pixels_of<block>(pixels, count, sums) : add_pixels_of<8>(pixels, count, sums);
}

} // namespace dt::nn
