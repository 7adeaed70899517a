// Lists of run keys for SQLite's json_each.
#pragma once

#include <string>
#include <vector>

namespace dt::store {

// Returns ["key", …]. Keys are hexadecimal and need no escaping.
inline std::string json_list(const std::vector<std::string>& keys)
{
  std::string list;
  for (const auto& key : keys) list += (list.empty() ? "[\"" : ",\"") + key + "\"";
  return list.empty() ? "[]" : list + "]";
}

} // namespace dt::store
