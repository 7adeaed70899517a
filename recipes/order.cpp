#include "recipes/order.hpp"

#include <numeric>
#include <utility>

namespace dt::recipes {

std::uint64_t PortableRandom::next()
{
  state_ += 0x9E3779B97F4A7C15U;
  auto z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::uint64_t PortableRandom::below(std::uint64_t bound)
{
  // Numbers of the last, incomplete round of `bound` are thrown away: they would favour the small remainders.
  const auto rejected = (0 - bound) % bound; // 2^64 mod bound
  auto number = next();
  while (number < rejected) number = next();
  return number % bound;
}

std::vector<std::size_t> shuffled(std::size_t count, PortableRandom& random)
{
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

} // namespace dt::recipes
