// A YAML document as a plain tree: anchors, aliases and merge keys are resolved, duplicate keys are refused, and every value has
// its place.
#pragma once

#include "recipes/reading/source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  Mark mark;
  std::string text;           // scalar
  bool quoted = false;        // of a scalar: written in quotes or as a block, so it is never a number
  std::vector<Node> items;    // list
  std::vector<Entry> entries; // in the order of the file; no key appears twice
};

struct Entry {
  std::string key;
  Mark mark; // place of the key
  Node value;
};

// Describes a node for messages: "a list", "the text `abc`".
std::string describe(const Node& node);

inline constexpr int deepest_nesting = 64;
inline constexpr std::size_t most_nodes = 500'000; // after aliases are resolved

// Returns the root of the document; a null node if the text is empty. Returns nothing if the text cannot be used: a syntax error,
// nesting beyond deepest_nesting, more than most_nodes nodes, or several documents. Adds a diagnostic for each mistake.
std::optional<Node> parse_document(const Source& source, Diagnostics& diagnostics);

} // namespace dt::recipes
