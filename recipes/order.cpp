#include "recipes/order.hpp"

#include <numeric>
#include <utility>

namespace dt::recipes {

std::vector<std::size_t> shuffled(std::size_t count, Random& random)
{
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

} // namespace dt::recipes
