// The loader has to take the clone for this processor, whoever made it.
#include "core/maths/function_clones.hpp"

#include <catch2/catch.hpp>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

// Rounded once where a fused multiply-add is part of the instruction set, else twice. GCC fuses from -O2 on.
DT_CLONES [[gnu::noinline, gnu::optimize("O2")]] float multiply_add(float a, float b, float c) { return a * b + c; }

} // namespace

TEST_CASE("a cloned function runs with fused multiply-adds where the processor has them")
{
  const volatile float a = 1 + 0x1p-12F, c = -1 - 0x1p-11F; // a * a + c is 2^-24 with one rounding, and 0 with two
  const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  CHECK(multiply_add(a, a, c) == (has_fma ? 0x1p-24F : 0.0F));
}

#endif
