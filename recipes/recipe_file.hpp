// One recipe file and the recipes it extends, read into one layer.
#pragma once

#include "recipes/settings.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace dt::recipes {

// A text with its place.
struct MarkedText {
  std::string text;
  Mark mark;
};

// A sweep's part as written, and the folder its relative paths start from.
struct SweepPart {
  Node node;
  std::filesystem::path folder;
};

struct RecipeFile {
  Mark file; // the whole file
  std::string text;
  Settings settings;
  std::optional<MarkedText> extends, profile;
  std::optional<SweepPart> matrix, zip, include, exclude;
  bool complete = true; // false when a recipe that it extends could not be read
};

// Whether a key at the top of a file is the author's own, `x-anything`: a place for YAML anchors, which nobody reads.
bool is_extension(std::string_view key);

// The map of a block, key by key, under "path." (empty for the root). Shared by recipes and profiles: `on_structure` gets the
// entries of keys that are no values; it may be empty for a block without such keys.
using OnStructure = std::function<void(const Key&, const Entry&)>;
void read_map(const Node& map, const std::string& prefix, const std::filesystem::path& folder, Settings& settings,
              const OnStructure& on_structure, Diagnostics& diagnostics);

// The recipe with all that it extends below it. Nothing when the recipe itself cannot be read; name and description are not
// taken from the recipes it extends.
std::optional<RecipeFile> read_recipe(const std::filesystem::path& path, Diagnostics& diagnostics);

} // namespace dt::recipes
