// The finalizer of SplitMix64: every bit of the input reaches every bit of the output. Draws are pure functions of counters by it.
#pragma once

#include <cstdint>

namespace dt::engine {

[[gnu::always_inline]] constexpr std::uint64_t mixed(std::uint64_t x)
{
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

} // namespace dt::engine
