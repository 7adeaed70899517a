// SimdVector: L adjacent numbers as one vector, loaded from and stored to fp32 or bfloat16. Use it only in kernels that are
// compiled once per instruction set (DT_CLONES, with_vectors_of); everything here is inlined into them.
#pragma once

#include "core/maths/bfloat16.hpp"
#include "engine/nn/kernels/processor.hpp"

#include <cstdint>
#include <type_traits>

namespace dt::nn {

struct Bf16 {
  std::uint16_t bits;
};

template<int L> struct VectorsOf;
template<> struct VectorsOf<16> {
  typedef float Floats __attribute__((vector_size(64)));
  typedef std::uint32_t Words __attribute__((vector_size(64)));
  typedef std::int32_t Places __attribute__((vector_size(64)));
  typedef std::uint16_t Halves __attribute__((vector_size(32)));
  typedef std::uint8_t Bytes __attribute__((vector_size(16)));
};
template<> struct VectorsOf<4> {
  typedef float Floats __attribute__((vector_size(16)));
  typedef std::uint32_t Words __attribute__((vector_size(16)));
  typedef std::int32_t Places __attribute__((vector_size(16)));
  typedef std::uint16_t Halves __attribute__((vector_size(8)));
  typedef std::uint8_t Bytes __attribute__((vector_size(4)));
};
template<> struct VectorsOf<8> {
  typedef float Floats __attribute__((vector_size(32)));
  typedef std::uint32_t Words __attribute__((vector_size(32)));
  typedef std::int32_t Places __attribute__((vector_size(32)));
  typedef std::uint16_t Halves __attribute__((vector_size(16)));
  typedef std::uint8_t Bytes __attribute__((vector_size(8)));
};

template<int L> struct SimdVector {
  using Floats = typename VectorsOf<L>::Floats;
  using Words = typename VectorsOf<L>::Words;
  using Places = typename VectorsOf<L>::Places;
  using Halves = typename VectorsOf<L>::Halves;
  using Bytes = typename VectorsOf<L>::Bytes;

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

template<class F> DT_AVX512 void with_vectors_of_avx512(const F& f) { f(std::integral_constant<int, 16>{}); }
template<class F> DT_AVX2 void with_vectors_of_avx2(const F& f) { f(std::integral_constant<int, 8>{}); }

// Calls f(L), compiled for an instruction set; L, a constant, is the number of floats in one of its registers. f and what it
// calls must be always inlined, otherwise it is not compiled for the set. Vectors that are wider than a register are to be
// avoided: GCC 12 compares, selects and shuffles them number by number.
template<class F> void with_vectors_of(InstructionSet set, const F& f)
{
  switch (set) {
  case InstructionSet::avx512:
    return with_vectors_of_avx512(f);
  case InstructionSet::avx2:
    return with_vectors_of_avx2(f);
  case InstructionSet::plain:
    return f(std::integral_constant<int, 4>{});
  }
}

} // namespace dt::nn
