// The `schema` member of the JSON files that dtctl writes: one rule for all readers.
#pragma once

#include <string>

namespace dt {

// "was written by a later dtctl (schema 99; this one reads 1), so use that one" of a parsed file whose schema is above `known`;
// else empty.
template<class Json> std::string words_of_later_schema(const Json& file, int known)
{
  const auto found = file.is_object() ? file.find("schema") : file.end();
  if (found == file.end() || !found->is_number_integer() || !(*found > known)) return {};
  return "was written by a later dtctl (schema " + found->dump() + "; this one reads " + std::to_string(known) +
         "), so use that one";
}

} // namespace dt
