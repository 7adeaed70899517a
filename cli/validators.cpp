#include "cli/validators.hpp"

#include "core/text.hpp"

#include <cmath>

namespace dt::cli {
namespace {

CLI::Validator number_that(bool (*is_good)(double), const char* what)
{
  const auto check = [is_good, what](std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && is_good(value)) return std::string();
    return "it takes " + std::string(what) + ", not " + printable(text);
  };
  return CLI::Validator(check, "");
}

} // namespace

CLI::Validator positive_number()
{
  return number_that([](double value) { return value > 0; }, "a number greater than 0");
}

CLI::Validator non_negative_number()
{
  return number_that([](double value) { return value >= 0; }, "a number that is 0 or greater");
}

} // namespace dt::cli
