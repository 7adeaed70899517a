// The text of a recipe or configuration file, checked for encoding and size before it is parsed.
#pragma once

#include "recipes/reading/diagnostics.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace dt::recipes {

inline constexpr std::size_t largest_source_bytes = 4 * 1024 * 1024;

struct Source {
  std::shared_ptr<const std::string> name; // the name that the user gave
  std::string text;                        // UTF-8 without byte-order mark
  bool has_lines = true;                   // false for a value from the command line: its marks contain no line
  Mark whole() const { return {name, 0, 0}; }
};

// The path for which the text of standard input is read, once for all callers, and its name.
inline constexpr const char *standard_input = "-", *standard_input_name = "<stdin>";

// Reads a UTF-8 text of at most largest_source_bytes. Returns nothing, and adds a diagnostic with the reason, if that is
// impossible.
std::optional<Source> read_source(const std::filesystem::path& path, Diagnostics& diagnostics);

// Returns "; did you mean `quickstart.yaml`?" if a file in the same folder has a similar name, else an empty text.
std::string near_file(const std::filesystem::path& missing);

} // namespace dt::recipes
