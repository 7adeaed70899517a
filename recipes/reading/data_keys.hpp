// The table of keys in the block `data` that only some data sets use.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dt::recipes {

// A key of `data` that only some data sets use.
struct DataKey {
  std::string_view path; // "data.classes"
  bool (*is_used_by)(std::string_view data_set);
  std::string_view instead; // where the other data sets get the value from, for messages
};
std::span<const DataKey> data_keys();

// Whether the data set uses the key. True for an empty name, because then the data set is unknown.
bool uses(std::string_view data_set, const DataKey& key);

} // namespace dt::recipes
