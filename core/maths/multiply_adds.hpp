// Peak speed of this processor: its fastest multiply-adds in registers, without loads and stores.
#pragma once

#include <cstdint>
#include <span>

namespace dt {

enum class MultiplyAdd {
  fp32,     // fused multiply-add of 32-bit floats
  bf16_dot, // products of bfloat16 pairs, added to 32-bit floats
};

struct MultiplyAddKernel {
  float (*run)(std::int64_t rounds) = nullptr; // returns the sum of all chains, so that the compiler cannot remove any
  double flops_a_round = 0;                    // a multiply-add counts as two
};

// The kernel with the processor's widest vectors, chosen at run time; without a bf16 instruction, bf16_dot is fp32. Without a
// function on a processor without AVX2 (unknown).
MultiplyAddKernel multiply_add_kernel(MultiplyAdd kind);

// FLOP/s of a core in fp32, the mean of these cores while all of them compute for `seconds`. Of each the best of tries that are
// shorter than a time slice, so that other processes on the cores do not count. NaN on a processor without a kernel.
double core_flops(std::span<const int> cores, double seconds);

} // namespace dt
