// Reads one recipe file and the recipes it extends into one layer of settings.
#pragma once

#include "recipes/reading/settings.hpp"

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

// A part of a sweep as written, and the folder for its relative paths.
struct SweepPart {
  Node node;
  std::filesystem::path folder;
};

struct RecipeFile {
  Mark file; // the whole file
  std::string text;
  Settings settings;
  std::optional<MarkedText> extends, profile, label;
  std::optional<SweepPart> matrix, zip, include, exclude;
  bool complete = true; // false if a recipe that it extends could not be read
};

// Whether a top-level key has the form `x-anything`. Such keys are ignored; authors can use them for YAML anchors.
bool is_extension(std::string_view key);

// Reads the map of a block, whose keys are prefixed by "path." (empty for the root). Used for recipes and profiles.
// `on_structure` gets the entries of keys that are not values; it may be empty for a block without such keys.
using OnStructure = std::function<void(const Key&, const Entry&)>;
void read_map(const Node& map, const std::string& prefix, const std::filesystem::path& folder, Settings& settings,
              const OnStructure& on_structure, Diagnostics& diagnostics);

// Reads the recipe and, below it, all recipes it extends. Returns nothing if the recipe itself cannot be read. Name and
// description are not inherited.
std::optional<RecipeFile> read_recipe(const std::filesystem::path& path, Diagnostics& diagnostics);

} // namespace dt::recipes
