// Numbers in sentences, and the ends of sentences.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace dt::cli {

// Ends a text that is to be a sentence with a full stop, unless it has one.
inline std::string with_full_stop(std::string text) { return text.ends_with('.') ? text : text + "."; }

// Formats one number as printf does: number_text("%+.1f %%", 4.52) is "+4.5 %".
inline std::string number_text(const char* format, double value)
{
  std::array<char, 400> text{}; // a double has at most 309 digits before its point
  std::snprintf(text.data(), text.size(), format, value);
  std::string shown = text.data();
  // printf writes small negative values as "-0.0"; they become "0.0", or "+0.0" if the format asks for a sign.
  if (shown.starts_with('-') && shown.find_first_of("123456789") == std::string::npos) {
    shown.erase(0, 1);
    if (std::string_view(format).find('+') != std::string_view::npos) shown.insert(0, 1, '+');
  }
  return shown;
}

// A share as "+4.5 %".
inline std::string percent_change(double share) { return number_text("%+.1f %%", 100 * share); }

// Two significant digits, without an exponent for large numbers: "0.042", "2.4", "130".
inline std::string two_digits(double value) { return number_text(value >= 10 ? "%.0f" : "%.2g", value); }

} // namespace dt::cli
