#include "core/maths/block_of_squares.hpp"

#include "core/maths/function_clones.hpp"

#include <array>

namespace dt {

DT_CLONES double block_of_squares(const float* values, std::size_t size)
{
  constexpr std::size_t chains = 32; // sums that do not wait for one another
  std::array<double, chains> sums{};
  std::size_t i = 0;
  for (; i + chains <= size; i += chains)
    for (std::size_t chain = 0; chain < chains; ++chain) {
      const double value = values[i + chain];
      sums[chain] += value * value;
    }
  for (; i < size; ++i) sums[0] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  double sum = 0;
  for (const double chain : sums) sum += chain;
  return sum;
}

} // namespace dt
