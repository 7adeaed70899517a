// Numbers in text, in C's locale.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace dt {

// The number that the whole text is, as std::from_chars reads it: without blanks and without "+". Empty for any other text and
// for a number that the type cannot hold.
template<class Number> std::optional<Number> number_of(std::string_view text)
{
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// The number with which the text begins.
template<class Number> std::optional<Number> leading_number(std::string_view text)
{
  Number value{};
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() ? std::optional(value) : std::nullopt;
}

// The value of "2.0" or "2e3", which JSON, and so the recipes' schema, takes as whole numbers. Empty for text that is no number,
// has another fraction than 0 or exceeds 2^53.
std::optional<std::int64_t> whole_of_decimal(std::string_view text);

} // namespace dt
