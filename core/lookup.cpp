#include "core/lookup.hpp"

#include "core/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt {

std::string unknown_name(std::string_view what, std::string_view wrong, std::span<const std::string> allowed)
{
  return "there is no " + std::string(what) + " `" + printable(wrong) + "`" + advice(wrong, allowed);
}

std::string unknown_name(std::string_view what, std::string_view wrong, std::span<const std::string> allowed,
                         std::string_view meant)
{
  if (meant.empty()) return unknown_name(what, wrong, allowed);
  return fmt::format("there is no {} `{}`; did you mean `{}`? Allowed: {}", what, printable(wrong), meant, join(allowed, ", "));
}

void require_short_name(std::string_view what, std::string_view name)
{
  const auto is_letter_or_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto is_allowed = [&](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '/'; };
  if (!name.empty() && name.size() <= 64 && is_letter_or_digit(name.front()) && std::ranges::all_of(name, is_allowed)) return;
  throw Error(ErrorKind::usage, fmt::format("`{}` is no name of a {}: it has 1 to 64 letters, digits, -, _, . or /, and begins "
                                            "with a letter or a digit",
                                            printable(name), what));
}

} // namespace dt
