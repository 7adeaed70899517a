#include "engine/train/weights/tensor_name.hpp"

#include <algorithm>

namespace dt::train {

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
