// What this processor could do at most: its fastest multiply-adds in registers, with nothing to load or store.
#pragma once

namespace dt::engine {

enum class MultiplyAdd {
  fp32,     // fused multiply-add of 32-bit floats
  bf16_dot, // products of bfloat16 pairs, added to 32-bit floats
};

// GFLOP/s of so many threads together, a multiply-add counted as two; the best of several tries over about `seconds`. The widest
// vectors that the processor has are chosen at run time; bf16_dot is fp32 where it has no such instruction. 0 on a processor
// without AVX2: not known. Leaves the calling thread with an OpenMP team of `threads`.
double fma_peak_gflops(MultiplyAdd kind, int threads, double seconds = 0.3);

} // namespace dt::engine
