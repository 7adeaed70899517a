// The instruction sets and the cache sizes of the processor that runs this program. Our kernels are compiled once for each of
// these instruction sets. All other code is compiled for any x86-64.
#pragma once

#include <cstdint>
#include <vector>

namespace dt::nn {

enum class InstructionSet { plain, avx2, avx512 };

// Those that this processor has, the widest last. plain is always among them.
std::vector<InstructionSet> instruction_sets();
// The widest of them.
InstructionSet best_instruction_set();

// Adjacent channels that form a block in the layouts for which oneDNN's kernels and ours are fastest on this processor: 16 with
// AVX-512 (nChw16c), otherwise 8 (nChw8c). For another block oneDNN often has reference code only.
std::int64_t channel_block();

// Sizes in bytes: a core's own (second-level) cache, and the last-level cache that several cores share.
struct CacheSizes {
  std::int64_t own, shared;
};
// Returns the sizes that the operating system reports for this processor; 512 KiB and 16 MiB where it reports none.
const CacheSizes& cache_sizes();

} // namespace dt::nn

// Before a function: compiles it for the vectors of one instruction set. Such a function may run only where instruction_sets()
// has it.
#if defined(__x86_64__)
#define DT_AVX2 __attribute__((target("arch=x86-64-v3")))
#define DT_AVX512 __attribute__((target("arch=x86-64-v4")))
#else
#define DT_AVX2
#define DT_AVX512
#endif
