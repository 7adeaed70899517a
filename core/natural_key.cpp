#include "core/natural_key.hpp"

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>

namespace dt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns "0" and 16 hexadecimal digits that sort in the order of the numbers.
std::string number_key(double value)
{
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0); // turns -0 into 0
  const auto ordered = (bits & sign) != 0 ? ~bits : bits | sign;
  std::string key = "0";
  for (int shift = 60; shift >= 0; shift -= 4) key += digits[(ordered >> shift) & 15];
  return key;
}

// Whether a number begins at `at`. The caller skips the remaining digits of a number.
bool begins_number(std::string_view text, std::size_t at)
{
  if (is_digit(text[at])) return true;
  const bool has_digit_next = at + 1 < text.size() && is_digit(text[at + 1]);
  const bool stands_alone = at == 0 || std::string_view("=,[ ").find(text[at - 1]) != std::string_view::npos;
  return text[at] == '-' && has_digit_next && stands_alone;
}

} // namespace

std::string natural_key(std::string_view text)
{
  std::string key;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_number(text, at)) {
      key += text[at++];
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) value = std::numeric_limits<double>::infinity();
    key += number_key(value);
    at = static_cast<std::size_t>(end - text.data());
  }
  return key;
}

} // namespace dt
