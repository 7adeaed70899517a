#include "core/lookup.hpp"

#include "core/text.hpp"

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

} // namespace dt
