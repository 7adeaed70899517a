#include "core/maths/multiply_adds.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <sched.h>

namespace dt {
namespace multiply_adds {
namespace {

// Many independent chains, so that the processor always has an instruction whose operands are ready.

#if defined(__x86_64__)

constexpr int chains_of_32_registers = 24, chains_of_16_registers = 12;
constexpr float factor = 0.999F, term = 0.001F; // the chains converge to 1, so they reach neither infinity nor denormals
constexpr float spacing = 0x1p-5F; // each chain starts differently, because the compiler could compute equal chains once

__attribute__((target("avx512f"))) float sum_of(const __m512* chains)
{
  __m512 sum = chains[0];
#pragma GCC unroll 32
  for (int i = 1; i < chains_of_32_registers; ++i) sum = _mm512_add_ps(sum, chains[i]);
  return _mm512_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) float avx512(std::int64_t rounds)
{
  const __m512 a = _mm512_set1_ps(factor), b = _mm512_set1_ps(term);
  __m512 chains[chains_of_32_registers];
#pragma GCC unroll 32
  for (int i = 0; i < chains_of_32_registers; ++i) chains[i] = _mm512_set1_ps(spacing * static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
    for (auto& chain : chains) chain = _mm512_fmadd_ps(chain, a, b);
  }
  return sum_of(chains);
}

__attribute__((target("avx512f,avx512bf16"))) float avx512_bf16(std::int64_t rounds)
{
  constexpr int pairs_of_2_to_minus_7 = 0x3c003c00;
  const auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pairs_of_2_to_minus_7));
  __m512 chains[chains_of_32_registers];
#pragma GCC unroll 32
  for (int i = 0; i < chains_of_32_registers; ++i) chains[i] = _mm512_set1_ps(spacing * static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
    for (auto& chain : chains) chain = _mm512_dpbf16_ps(chain, a, a);
  }
  return sum_of(chains);
}

__attribute__((target("avx2,fma"))) float avx2(std::int64_t rounds)
{
  const __m256 a = _mm256_set1_ps(factor), b = _mm256_set1_ps(term);
  __m256 chains[chains_of_16_registers];
#pragma GCC unroll 32
  for (int i = 0; i < chains_of_16_registers; ++i) chains[i] = _mm256_set1_ps(spacing * static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
    for (auto& chain : chains) chain = _mm256_fmadd_ps(chain, a, b);
  }
  __m256 sum = chains[0];
#pragma GCC unroll 32
  for (int i = 1; i < chains_of_16_registers; ++i) sum = _mm256_add_ps(sum, chains[i]);
  return _mm256_cvtss_f32(sum);
}

MultiplyAddKernel kernel_of(MultiplyAdd kind)
{
  constexpr double lanes_512 = 16 * chains_of_32_registers, lanes_256 = 8 * chains_of_16_registers;
  if (kind == MultiplyAdd::bf16_dot && __builtin_cpu_supports("avx512bf16")) return {avx512_bf16, 2 * 2 * lanes_512};
  if (__builtin_cpu_supports("avx512f")) return {avx512, 2 * lanes_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {avx2, 2 * lanes_256};
  return {};
}

#else

MultiplyAddKernel kernel_of(MultiplyAdd) { return {}; }

#endif

// FLOP/s of the calling thread: the best of short tries.
double best_of_thread(const MultiplyAddKernel& kernel, double seconds)
{
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr std::int64_t rounds = 50'000; // about 0.2 ms, less than a time slice of a busy machine
  static std::atomic<float> kept = 0;     // uses the result, so that the compiler cannot remove the computation
  double least_s = std::numeric_limits<double>::infinity();
  for (const auto begin = Clock::now(); Seconds(Clock::now() - begin).count() < seconds;) {
    const auto before = Clock::now();
    kept.store(kernel.run(rounds), std::memory_order_relaxed);
    least_s = std::min(least_s, Seconds(Clock::now() - before).count());
  }
  return kernel.flops_a_round * static_cast<double>(rounds) / least_s;
}

void bind_thread_to(int core)
{
  cpu_set_t* set = CPU_ALLOC(core + 1);
  if (set == nullptr) return;
  const auto size = CPU_ALLOC_SIZE(core + 1);
  CPU_ZERO_S(size, set);
  CPU_SET_S(core, size, set);
  ::sched_setaffinity(0, size, set); // of this thread; without it the kernel places the threads
  CPU_FREE(set);
}

} // namespace
} // namespace multiply_adds

MultiplyAddKernel multiply_add_kernel(MultiplyAdd kind) { return multiply_adds::kernel_of(kind); }

double core_flops(std::span<const int> cores, double seconds)
{
  const auto kernel = multiply_add_kernel(MultiplyAdd::fp32);
  if (kernel.run == nullptr || cores.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> of_cores(cores.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cores.size(); ++i)
      threads.emplace_back([&, i] {
        multiply_adds::bind_thread_to(cores[i]);
        of_cores[i] = multiply_adds::best_of_thread(kernel, seconds);
      });
  }
  double sum = 0;
  for (const double of_core : of_cores) sum += of_core;
  return sum / static_cast<double>(cores.size());
}

} // namespace dt
