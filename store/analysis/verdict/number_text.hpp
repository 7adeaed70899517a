// Numbers in sentences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

namespace dt::store {

// Formats one number as printf does: number_text("%+.1f %%", 4.52) is "+4.5 %".
inline std::string number_text(const char* format, double value)
{
  std::array<char, 400> text{}; // a double has at most 309 digits before its point
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// Two significant digits, without an exponent for large numbers: "0.042", "2.4", "130".
inline std::string two_digits(double value) { return number_text(value >= 10 ? "%.0f" : "%.2g", value); }

} // namespace dt::store
