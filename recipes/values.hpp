// One value of one key, checked against the key's row.
#pragma once

#include "core/spec_schema.hpp"
#include "recipes/document.hpp"

#include <optional>
#include <string>

namespace dt::recipes {

// A number as a person would write it: 2100000000, 0.1, 1e-12.
std::string number_text(double value);

// "0 to 1, "1 to 65536 nodes": the numbers a key allows, with their unit.
std::string range_text(const Key& key);

// Texts of one line: everything but descriptions, set-up lines and environment variables.
bool is_one_line(const Key& key);

// The value, or nothing and a diagnostic when the node is not one of the key's type, range or choices.
std::optional<FieldValue> read_value(const Key& key, const Node& node, Diagnostics& diagnostics);

} // namespace dt::recipes
