// A YAML document as a plain tree: anchors, aliases and merge keys resolved, duplicates refused, every value with its place.
#pragma once

#include "recipes/source.hpp"

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
  bool quoted = false;        // scalar: written in quotes or as a block, so never a number
  std::vector<Node> items;    // list
  std::vector<Entry> entries; // map, in the order of the file, no key twice
};

struct Entry {
  std::string key;
  Mark mark; // of the key
  Node value;
};

// "a list", "the text `abc`": for messages.
std::string describe(const Node& node);

inline constexpr int deepest_nesting = 64;
inline constexpr std::size_t most_nodes = 500'000; // after aliases are resolved

// The root of the only document; a null node when the text holds nothing. Nothing when the text cannot be used at all: a
// syntax error, nesting beyond deepest_nesting, more than most_nodes, or several documents. Each mistake is a diagnostic.
std::optional<Node> parse_document(const Source& source, Diagnostics& diagnostics);

} // namespace dt::recipes
