// The bytes of a recipe or configuration file, proven to be text of a sane size before anything parses them.
#pragma once

#include "recipes/diagnostics.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace dt::recipes {

inline constexpr std::size_t largest_source_bytes = 4 * 1024 * 1024;

struct Source {
  std::shared_ptr<const std::string> name; // as the user named it
  std::string text;                        // UTF-8 without byte-order mark
  bool has_lines = true;                   // false for a value of the command line: its marks name no line
  Mark whole() const { return {name, 0, 0}; }
};

// Nothing, and a diagnostic that says why, when there is no readable UTF-8 text of at most largest_source_bytes.
std::optional<Source> read_source(const std::filesystem::path& path, Diagnostics& diagnostics);

// "; did you mean `quickstart.yaml`?" when a file beside the missing one has a near name, else nothing.
std::string near_file(const std::filesystem::path& missing);

} // namespace dt::recipes
