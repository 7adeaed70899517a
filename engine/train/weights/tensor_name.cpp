#include "engine/train/weights/tensor_name.hpp"

#include <algorithm>

namespace dt::train {

std::size_t element_count(std::span<const std::int64_t> dims)
{
  std::size_t count = 1;
  for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

bool is_same_order(std::span<const std::int64_t> in_file, std::span<const std::int64_t> in_model)
{
  std::size_t next = 0;
  for (const auto dim : in_model) {
    std::int64_t product = 1;
    while (next < in_file.size() && product < dim && in_file[next] >= 1 && in_file[next] <= dim / product)
      product *= in_file[next++];
    if (product != dim) return false;
  }
  return std::all_of(in_file.begin() + static_cast<std::ptrdiff_t>(next), in_file.end(), [](auto dim) { return dim == 1; });
}

} // namespace dt::train
