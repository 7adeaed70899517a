// Looks names up: in a registry, in a table, among the words of a command. Every refusal of an unknown name is worded here.
#pragma once

#include "core/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// Returns "there is no model `lenett`; did you mean `lenet`? Allowed: alexnet, lenet". `what` is what the name should name.
std::string unknown_name(std::string_view what, std::string_view wrong, std::span<const std::string> allowed);

// The same with this suggestion in place of the nearest name, if it is not empty: what to type for a word of another program.
std::string unknown_name(std::string_view what, std::string_view wrong, std::span<const std::string> allowed,
                         std::string_view meant);

// Throws a usage error unless the name that a user gives to `what` (a tag, a baseline) has 1 to 64 letters, digits, "-", "_", "."
// or "/", and begins with a letter or a digit: it needs no quoting in a shell, in a condition or in a table.
void require_short_name(std::string_view what, std::string_view name);

// The entry with this name in a range whose entries have a member `name`. Throws an error of this kind if there is none.
template<class Entries>
const auto& lookup(const Entries& entries, std::string_view what, std::string_view name, ErrorKind kind = ErrorKind::recipe)
{
  for (const auto& entry : entries)
    if (entry.name == name) return entry;
  std::vector<std::string> allowed;
  for (const auto& entry : entries) allowed.emplace_back(entry.name);
  throw Error(kind, unknown_name(what, name, allowed));
}

} // namespace dt
