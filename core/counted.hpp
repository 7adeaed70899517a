// Counts with the noun in the right number, for messages.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace dt {

// Returns "1 run" or "3 runs". `many` is the plural if it is not `one` with an s: counted(2, "class", "classes"),
// counted(2, "run has", "runs have").
template<std::integral Count> std::string counted(Count count, std::string_view one, std::string_view many = {})
{
  auto text = std::to_string(count) + " ";
  if (count == 1 || many.empty())
    text += one;
  else
    text += many;
  return count != 1 && many.empty() ? text + "s" : text;
}

} // namespace dt
