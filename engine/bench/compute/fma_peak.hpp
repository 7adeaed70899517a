// Peak speed of this processor: its fastest multiply-adds in registers, without loads and stores.
#pragma once

namespace dt::bench {

enum class MultiplyAdd {
  fp32,     // fused multiply-add of 32-bit floats
  bf16_dot, // products of bfloat16 pairs, added to 32-bit floats
};

// GFLOP/s of `threads` threads together; a multiply-add counts as two operations. The best of several tries in about `seconds`.
// Selects the processor's widest vectors at run time; without a bf16 instruction, bf16_dot measures fp32. Returns 0 on a
// processor without AVX2 (unknown). Leaves the calling thread with an OpenMP team of `threads`.
double fma_peak_gflops(MultiplyAdd kind, int threads, double seconds = 0.3);

} // namespace dt::bench
