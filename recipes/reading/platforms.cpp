#include "recipes/reading/platforms.hpp"

#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/lookup.hpp"
#include "core/text.hpp"
#include "recipes/reading/document.hpp"
#include "recipes/reading/recipe_file.hpp"
#include "recipes/reading/source.hpp"

#include <algorithm>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".yaml";

fs::path folder_of_shipped() { return recipe_library() / "platforms"; }

void read_block(const Entry& entry, const fs::path& folder, PlatformFile& file, Diagnostics& diagnostics)
{
  static const std::vector<std::string> allowed{"description", "platform"};
  if (entry.key == "platform" && entry.value.kind == Node::Kind::map)
    read_map(entry.value, "platform.", folder, file.settings, {}, diagnostics);
  else if (entry.key == "platform")
    diagnostics.add(entry.value.mark, "`platform` must be a map of keys, not " + describe(entry.value));
  else if (entry.key == "description" && entry.value.kind == Node::Kind::scalar)
    file.description = entry.value.text;
  else if (!is_extension(entry.key))
    diagnostics.add(entry.mark, "unknown key " + ticked(entry.key) + " in a platform's file" + advice(entry.key, allowed));
}

std::optional<PlatformFile> read_file(const fs::path& path, Diagnostics& diagnostics)
{
  const auto source = read_source(path, diagnostics);
  const auto root = source ? parse_document(*source, diagnostics) : std::nullopt;
  if (!root) return std::nullopt;
  if (root->kind != Node::Kind::map) {
    diagnostics.add(root->mark, "a platform's file must be a map with the key `platform`, not " + describe(*root));
    return std::nullopt;
  }
  PlatformFile file{path.stem().string(), {}, {}};
  for (const auto& entry : root->entries) read_block(entry, path.parent_path(), file, diagnostics);
  return file;
}

} // namespace

bool is_platform_file(std::string_view value)
{
  return value.find('/') != value.npos || value.ends_with(extension) || value.ends_with(".yml");
}

fs::path platform_path(const std::string& name) { return folder_of_shipped() / (name + std::string(extension)); }

const PlatformFile* PlatformBook::find(const std::string& value, const Mark& mark, Diagnostics& diagnostics)
{
  const auto [entry, is_new] = files_.try_emplace(value);
  auto& file = entry->second;
  if (!is_new) return file ? &*file : nullptr;
  const auto shipped = shipped_platforms();
  if (value == custom_platform) {
    file = PlatformFile{value, {}, {}};
  } else if (is_platform_file(value)) {
    file = read_file(value, diagnostics);
  } else if (std::find(shipped.begin(), shipped.end(), value) != shipped.end()) {
    file = read_file(platform_path(value), diagnostics);
  } else {
    auto known = shipped;
    known.emplace_back(custom_platform);
    diagnostics.add(mark, unknown_name("platform", value, known) +
                              ". A platform of your own: the path of its file, or `custom` with a block `platform`");
  }
  return file ? &*file : nullptr;
}

std::vector<std::string> shipped_platforms() { return stems_in(folder_of_shipped(), extension); }

} // namespace dt::recipes
