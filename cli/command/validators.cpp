#include "cli/command/validators.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <cmath>
#include <system_error>

namespace dt::cli {
namespace {

Validator number_that(bool (*is_good)(double), const char* what)
{
  return [is_good, what](std::string& text) {
    const auto value = number_of<double>(std::string_view(text).substr(text.starts_with('+') ? 1 : 0));
    if (value && std::isfinite(*value) && is_good(*value)) return std::string();
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
