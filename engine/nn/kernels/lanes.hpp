// Lanes: L adjacent channels as one vector, loaded from and stored to fp32 or bfloat16. Use it only in kernels that are compiled
// once per instruction set (DT_CLONES); everything here is inlined into them.
#pragma once

#include "core/bfloat16.hpp"

#include <cstdint>

namespace dt::nn {

struct Bf16 {
  std::uint16_t bits;
};

template<int L> struct VectorsOf;
template<> struct VectorsOf<16> {
  typedef float Floats __attribute__((vector_size(64)));
  typedef std::uint32_t Words __attribute__((vector_size(64)));
  typedef std::uint16_t Halves __attribute__((vector_size(32)));
};
template<> struct VectorsOf<4> {
  typedef float Floats __attribute__((vector_size(16)));
  typedef std::uint32_t Words __attribute__((vector_size(16)));
  typedef std::uint16_t Halves __attribute__((vector_size(8)));
};
template<> struct VectorsOf<8> {
  typedef float Floats __attribute__((vector_size(32)));
  typedef std::uint32_t Words __attribute__((vector_size(32)));
  typedef std::uint16_t Halves __attribute__((vector_size(16)));
};

template<int L> struct Lanes {
  using Floats = typename VectorsOf<L>::Floats;
  using Words = typename VectorsOf<L>::Words;
  using Halves = typename VectorsOf<L>::Halves;

  [[gnu::always_inline]] static inline Floats load(const float* from)
  {
    Floats values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
  }
  [[gnu::always_inline]] static inline Floats load(const Bf16* from)
  {
    Halves halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    const Words words = __builtin_convertvector(halves, Words) << 16;
    Floats values;
    __builtin_memcpy(&values, &words, sizeof values);
    return values;
  }
  [[gnu::always_inline]] static inline void store(Floats values, float* to) { __builtin_memcpy(to, &values, sizeof values); }
  // Rounds to nearest, ties to even.
  [[gnu::always_inline]] static inline void store(Floats values, Bf16* to)
  {
    Words words;
    __builtin_memcpy(&words, &values, sizeof words);
    const Halves halves = __builtin_convertvector(bfloat16_bits(words) >> 16, Halves);
    __builtin_memcpy(to, &halves, sizeof halves);
  }
};

} // namespace dt::nn
