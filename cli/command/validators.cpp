#include "cli/command/validators.hpp"

#include "core/text.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace dt::cli {
namespace {

Validator number_that(bool (*is_good)(double), const char* what)
{
  return [is_good, what](std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && is_good(value)) return std::string();
    return "it takes " + std::string(what) + ", not " + printable(text);
  };
}

} // namespace

Validator positive_number()
{
  return number_that([](double value) { return value > 0; }, "a number greater than 0");
}

Validator non_negative_number()
{
  return number_that([](double value) { return value >= 0; }, "a number that is 0 or greater");
}

} // namespace dt::cli
