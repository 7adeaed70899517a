#include "engine/nn/kernels/processor.hpp"

#include <unistd.h>

namespace dt::nn {
namespace {

std::int64_t cache_bytes(int name, std::int64_t usual)
{
  const std::int64_t found = ::sysconf(name);
  return found > 0 ? found : usual;
}

} // namespace

std::vector<InstructionSet> instruction_sets()
{
  std::vector<InstructionSet> found{InstructionSet::plain};
#if defined(__x86_64__)
  // x86-64-v3 and v4, the levels that the kernels are compiled for, are these sets together.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (v3) found.push_back(InstructionSet::avx2);
  if (v4) found.push_back(InstructionSet::avx512);
#endif
  return found;
}

InstructionSet best_instruction_set()
{
  static const auto best = instruction_sets().back();
  return best;
}

std::int64_t channel_block() { return best_instruction_set() == InstructionSet::avx512 ? 16 : 8; }

const CacheSizes& cache_sizes()
{
  static const CacheSizes sizes{cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10), cache_bytes(_SC_LEVEL3_CACHE_SIZE, 16 << 20)};
  return sizes;
}

} // namespace dt::nn
