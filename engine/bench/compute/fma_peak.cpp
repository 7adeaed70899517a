#include "engine/bench/compute/fma_peak.hpp"

#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/train/step/step_timer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dt::bench {
namespace {

// Runs many independent chains of multiply-adds, so that the processor always has an instruction whose operands are ready.
struct Kernel {
  float (*run)(std::int64_t rounds) = nullptr; // returns the sum of all chains, so that the compiler cannot remove any
  double flops_a_round = 0;
};

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

Kernel kernel_of(MultiplyAdd kind)
{
  constexpr double lanes_512 = 16 * chains_of_32_registers, lanes_256 = 8 * chains_of_16_registers;
  if (kind == MultiplyAdd::bf16_dot && __builtin_cpu_supports("avx512bf16")) return {avx512_bf16, 2 * 2 * lanes_512};
  if (__builtin_cpu_supports("avx512f")) return {avx512, 2 * lanes_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {avx2, 2 * lanes_256};
  return {};
}

#else

Kernel kernel_of(MultiplyAdd) { return {}; }

#endif

// Seconds from the first thread's start to the last thread's end.
double timed_round_trip(const Kernel& kernel, int threads, std::int64_t rounds)
{
  std::atomic<float> kept = 0; // uses the result, so that the compiler cannot remove the computation
  const double begin_s = comm::monotonic_s();
#pragma omp parallel num_threads(threads)
  kept.store(kernel.run(rounds), std::memory_order_relaxed);
  return comm::monotonic_s() - begin_s;
}

} // namespace

double fma_peak_gflops(MultiplyAdd kind, int threads, double seconds)
{
  constexpr std::int64_t rounds = 1'000'000; // some milliseconds, so that the start of the team does not matter
  nn::prepare_compute_thread(threads);
  const auto kernel = kernel_of(kind);
  if (kernel.run == nullptr) return 0;
  double least_s = timed_round_trip(kernel, threads, rounds);
  for (const double end_s = comm::monotonic_s() + seconds; comm::monotonic_s() < end_s;)
    least_s = std::min(least_s, timed_round_trip(kernel, threads, rounds));
  return 1e-9 * kernel.flops_a_round * static_cast<double>(rounds) * threads / least_s;
}

} // namespace dt::bench
