// A random order that is the same on every machine and with every standard library: studies are repeated years later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dt::recipes {

// SplitMix64 (Steele, Lea and Flood 2014): small, portable, and good enough to shuffle with.
class PortableRandom {
 public:
  explicit PortableRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

// 0 … count-1 in a random order (Fisher-Yates).
std::vector<std::size_t> shuffled(std::size_t count, PortableRandom& random);

} // namespace dt::recipes
