// Random numbers that are the same on every machine and in every language standard's library: for sample orders, synthetic
// images and made data sets. Not for secrets.
#pragma once

#include <cstdint>

namespace dt::engine {

// A bijection of 64-bit words whose outputs look random for inputs 0, 1, 2, … (SplitMix64's finaliser).
constexpr std::uint64_t mix_bits(std::uint64_t word)
{
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

// Word `counter` of stream `key`: any word can be had without those before it.
constexpr std::uint64_t counter_word(std::uint64_t key, std::uint64_t counter)
{
  return mix_bits(key + (counter + 1) * 0x9e3779b97f4a7c15u);
}

// A key for the stream of (key, part): give every use a part of its own and their streams are unrelated.
constexpr std::uint64_t sub_key(std::uint64_t key, std::uint64_t part)
{
  return mix_bits(counter_word(key, part) ^ 0xd1b54a32d192ed03u);
}

// The words of one stream in turn, and the draws made from them.
class Random {
 public:
  explicit Random(std::uint64_t key) : key_(key) {}

  std::uint64_t word() { return counter_word(key_, counter_++); }

  // Each of 0 … bound-1 equally likely (bound > 0): words above the last whole multiple of bound are drawn again.
  std::uint64_t below(std::uint64_t bound)
  {
    const std::uint64_t too_large = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t drawn = word();
    while (drawn >= too_large) drawn = word();
    return drawn % bound;
  }

  // In [0, 1), in steps of 2^-24: exact in a float.
  float unit() { return static_cast<float>(word() >> 40) * 0x1p-24f; }
  float between(float low, float high) { return low + (high - low) * unit(); }
  bool chance(float probability) { return unit() < probability; }

  // About normal with mean 0 and deviation 1, and never beyond 3.5: the sum of four uniform 16-bit numbers, so that no
  // library function with its own rounding takes part.
  float normal()
  {
    const std::uint64_t bits = word();
    const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    constexpr float mean = 2.0f * 65535.0f, deviation = 37836.6f; // 65536 * sqrt(4 / 12)
    return (static_cast<float>(sum) - mean) / deviation;
  }

 private:
  std::uint64_t key_, counter_ = 0;
};

} // namespace dt::engine
