// Lists of run keys and of labels for SQLite's json_each.
#pragma once

#include "store/database/database.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::store {

// Returns ["key", …]. Keys are hexadecimal and need no escaping.
inline std::string json_list(const std::vector<std::string>& keys)
{
  std::string list;
  for (const auto& key : keys) list += (list.empty() ? "[\"" : ",\"") + key + "\"";
  return list.empty() ? "[]" : list + "]";
}

// Of a study with thousands of labels, charts draw a few. A condition for statements that read the column `series`; their second
// parameter is label_list(labels).
inline constexpr std::string_view of_these_labels = "(?2 IS NULL OR series IN (SELECT value FROM json_each(?2)))";

// Returns ["label", …], or NULL for all labels if there are none.
inline Cell label_list(const std::vector<std::string>& labels)
{
  return labels.empty() ? Cell() : Cell(nlohmann::json(labels).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace dt::store
