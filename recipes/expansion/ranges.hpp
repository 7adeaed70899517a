// Ranges in the lists of a sweep: one item that stands for several numbers.
//
//   range = from ".." to [ SP ( "log" | "linear" ) SP count ]     "0.001..1 log 4" -> 0.001, 0.01, 0.1, 1
//
// Both ends are included. log: equal ratios; linear: equal differences. Without them, each whole number from one end to the
// other.
#pragma once

#include "core/spec/spec_schema.hpp"
#include "recipes/reading/document.hpp"

#include <vector>

namespace dt::recipes {

// Whether the item is a range: an unquoted text with "..", for a key that takes one number.
bool is_range(const Key& key, const Node& item);

// The numbers of a range as nodes with its mark. Numbers that are not whole have six significant digits. Empty, after a
// diagnostic, if it is no range.
std::vector<Node> numbers_of_range(const Key& key, const Node& item, Diagnostics& diagnostics);

} // namespace dt::recipes
