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
