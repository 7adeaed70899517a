// Random numbers that are equal on every machine and with every standard library: for orders, initial weights, images, dropout.
// Not for secrets.
#pragma once

#include <cstdint>

namespace dt {

// The increment of SplitMix64's counter: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t splitmix_increment = 0x9e3779b97f4a7c15U;

// The finalizer of SplitMix64 [SteeleLeaFlood2014]: a bijection of 64-bit words in which every input bit changes every output
// bit.
[[gnu::always_inline]] constexpr std::uint64_t mix_bits(std::uint64_t word)
{
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

// Word `counter` of SplitMix64 with seed `key`. Any word can be computed without those before it.
[[gnu::always_inline]] constexpr std::uint64_t counter_word(std::uint64_t key, std::uint64_t counter)
{
  return mix_bits(key + (counter + 1) * splitmix_increment);
}

// The first word of SplitMix64 with seed `key`: a hash of one word.
[[gnu::always_inline]] constexpr std::uint64_t first_word(std::uint64_t key) { return counter_word(key, 0); }

// A key for part `part` of what `key` is for. The streams of different parts are unrelated.
constexpr std::uint64_t sub_key(std::uint64_t key, std::uint64_t part)
{
  return mix_bits(counter_word(key, part) ^ 0xd1b54a32d192ed03U);
}

// The words of one stream, one after the other, and the numbers drawn from them.
class Random {
 public:
  explicit Random(std::uint64_t key) : key_(key) {}

  std::uint64_t word() { return counter_word(key_, counter_++); }

  // Each of 0 … bound-1 with equal probability; bound > 0. Words above the last whole multiple of bound are drawn again.
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

  // Approximately normal with mean 0 and standard deviation 1, never beyond 3.5: the sum of four uniform 16-bit numbers. No
  // function of the standard library takes part, because each library rounds its own way.
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

} // namespace dt
