#include "core/whole_number.hpp"

#include <charconv>
#include <cmath>

namespace dt {

std::optional<std::int64_t> whole_of_decimal(std::string_view text)
{
  constexpr double most = 0x1p53; // up to it every whole number is a double
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || read != end || error != std::errc() || !(std::abs(value) <= most) || value != std::floor(value))
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

} // namespace dt
