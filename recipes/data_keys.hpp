// Which data set looks at which key of the block `data`, in one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dt::recipes {

// A key of `data` that only some data sets look at.
struct DataKey {
  std::string_view path; // "data.classes"
  bool (*is_used_by)(std::string_view data_set);
  std::string_view instead; // where the others have it from, in words
};
std::span<const DataKey> data_keys();

// Whether the data set looks at the key; true for an empty name, of which nothing is known.
bool uses(std::string_view data_set, const DataKey& key);

} // namespace dt::recipes
