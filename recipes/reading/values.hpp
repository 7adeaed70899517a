// Reads one value of one key and checks it against the key's row.
#pragma once

#include "core/spec/spec_schema.hpp"
#include "recipes/reading/document.hpp"

#include <optional>
#include <string>

namespace dt::recipes {

// Formats a number as a person would write it: 2100000000, 0.1, 1e-12.
std::string number_text(double value);

// The numbers that a key allows, with their unit: "0 to 1", "1 to 65536 nodes".
std::string range_text(const Key& key);

// Whether a number of this key may be written with its unit: "2 node-hours", and a share as "3%".
bool takes_unit(const Key& key);

// The key's default as a recipe writes it: "0.1", "1h", "50us". Only for keys with has_default (core/spec/spec_schema.hpp).
std::string default_text(const Key& key);

// Whether the key's text must be a single line. That is so except for descriptions, words of a program's command, set-up lines
// and environment variables.
bool is_one_line(const Key& key);

// Returns the value. Returns nothing, and adds a diagnostic, if the node does not have the key's type, range or choices.
std::optional<FieldValue> read_value(const Key& key, const Node& node, Diagnostics& diagnostics);

} // namespace dt::recipes
