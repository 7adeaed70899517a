#include "core/number.hpp"

#include <cmath>

namespace dt {

std::optional<std::int64_t> whole_of_decimal(std::string_view text)
{
  constexpr double most = 0x1p53; // up to it every whole number is a double
  const auto value = number_of<double>(text);
  if (!value || !(std::abs(*value) <= most) || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

} // namespace dt
