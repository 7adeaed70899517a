#include "recipes/reading/recipe_file.hpp"

#include "core/text.hpp"
#include "recipes/reading/values.hpp"

#include <algorithm>
#include <utility>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

// Names of the keys directly in a block; for the root, its keys and the blocks.
std::vector<std::string> names_in(const std::string& prefix)
{
  std::vector<std::string> names;
  for (const auto& key : spec_keys()) {
    if (!key.path.starts_with(prefix)) continue;
    const auto rest = key.path.substr(prefix.size());
    const std::string name(rest.substr(0, rest.find('.')));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// The blocks that have a key with this name: "`train`" for `epochs`. Used if such a key is written in the root.
std::string blocks_with(const std::string& name)
{
  std::vector<std::string> blocks;
  for (const auto& key : spec_keys())
    if (const auto dot = key.path.find('.'); dot != key.path.npos && key.path.substr(dot + 1) == name)
      blocks.push_back("`" + std::string(key.path.substr(0, dot)) + "`");
  return join(blocks, " or ");
}

std::string unknown_key(const std::string& name, const std::string& prefix)
{
  auto text = "unknown key " + ticked(name);
  if (!prefix.empty()) text += " in `" + prefix.substr(0, prefix.size() - 1) + "`";
  const auto allowed = names_in(prefix);
  if (const auto dot = name.find('.'); dot != name.npos && find_key(name) != nullptr)
    return text + "; write " + ticked(name.substr(dot + 1)) + " in the block " + ticked(name.substr(0, dot));
  if (const auto blocks = blocks_with(name); !blocks.empty())
    return text + "; it belongs in " + blocks + ". Allowed: " + join(allowed, ", ");
  return text + advice(name, allowed);
}

// Marks the keys that the author of an unknown key probably meant as unreadable, so that they are not reported as missing.
void suspect(const std::string& name, const std::string& prefix, Settings& settings)
{
  const auto near = nearest(name, names_in(prefix));
  for (const auto& key : spec_keys()) {
    const bool elsewhere = key.path == name || key.path.ends_with("." + name);
    const bool here = near && (key.path == prefix + *near || key.path.starts_with(prefix + *near + "."));
    if (elsewhere || here) settings.set_unreadable(key);
  }
}

bool is_block(const std::string& name)
{
  const auto keys = spec_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.path.starts_with(name + "."); });
}

// If a block gives two keys that exclude each other, the second one is refused.
bool excluded_by_sibling(const Key& key, const Settings& settings, const Entry& entry, Diagnostics& diagnostics)
{
  const Key* other = alternative_of(key);
  const auto* given = other == nullptr ? nullptr : settings.find(other->path);
  if (given == nullptr) return false;
  diagnostics.add(entry.mark,
                  "`" + std::string(key.path) + "` and `" + std::string(other->path) + "` exclude each other; keep one");
  return true;
}

void read_key(const Key& key, const Entry& entry, const fs::path& folder, Settings& settings, Diagnostics& diagnostics)
{
  if (excluded_by_sibling(key, settings, entry, diagnostics)) return;
  auto assignment = read_assignment(key.path, entry.mark, entry.value, folder, diagnostics);
  if (assignment)
    settings.set(std::move(*assignment));
  else
    settings.set_unreadable(key);
}

// An empty block is allowed: its keys may be commented out.
bool may_be_block(const Entry& entry, Settings& settings, Diagnostics& diagnostics)
{
  if (entry.value.kind == Node::Kind::map || entry.value.kind == Node::Kind::null) return true;
  diagnostics.add(entry.value.mark, "`" + entry.key + "` must be a map of keys, not " + describe(entry.value));
  suspect(entry.key, "", settings);
  return false;
}

// Reads the root of one recipe file.
class RecipeReader {
 public:
  RecipeReader(RecipeFile& recipe, fs::path folder, Diagnostics& diagnostics)
      : recipe_(recipe), folder_(std::move(folder)), diagnostics_(diagnostics)
  {
  }

  void read(const Node& root)
  {
    recipe_.complete = root.kind == Node::Kind::map;
    if (root.kind == Node::Kind::null) return diagnostics_.add(recipe_.file, "holds no keys; a recipe starts with `version: 1`");
    if (!recipe_.complete) return diagnostics_.add(root.mark, "a recipe must be a map of keys, not " + describe(root));
    read_map(
        root, "", folder_, recipe_.settings, [this](const Key& key, const Entry& entry) { read_structure(key, entry); },
        diagnostics_);
    const auto has_version = [](const Entry& entry) { return entry.key == "version"; };
    if (std::none_of(root.entries.begin(), root.entries.end(), has_version))
      diagnostics_.add(recipe_.file, "`version` is missing; write `version: 1` at the top");
  }

 private:
  void read_structure(const Key& key, const Entry& entry)
  {
    if (key.path == "version") read_version(entry.value);
    if (key.path == "extends") recipe_.extends = read_name(key, entry.value);
    if (key.path == "profile") recipe_.profile = read_name(key, entry.value);
    if (key.path == "label") recipe_.label = read_name(key, entry.value);
    if (key.path == "sweep.matrix") recipe_.matrix = SweepPart{entry.value, folder_};
    if (key.path == "sweep.zip") recipe_.zip = SweepPart{entry.value, folder_};
    if (key.path == "sweep.include") recipe_.include = SweepPart{entry.value, folder_};
    if (key.path == "sweep.exclude") recipe_.exclude = SweepPart{entry.value, folder_};
  }

  void read_version(const Node& node)
  {
    if (node.kind != Node::Kind::scalar || node.quoted || node.text != "1")
      diagnostics_.add(node.mark, "`version` is " + describe(node) + "; this dtctl reads version 1");
  }

  std::optional<MarkedText> read_name(const Key& key, const Node& node)
  {
    if (node.kind == Node::Kind::scalar && !node.text.empty() && node.text.find('\0') == node.text.npos)
      return MarkedText{node.text, node.mark};
    diagnostics_.add(node.mark, "`" + std::string(key.path) + "` must be a name, not " + describe(node));
    return std::nullopt;
  }

  RecipeFile& recipe_;
  fs::path folder_;
  Diagnostics& diagnostics_;
};

std::optional<RecipeFile> read_one(const fs::path& path, Diagnostics& diagnostics)
{
  auto source = read_source(path, diagnostics);
  if (!source) return std::nullopt;
  RecipeFile recipe;
  recipe.file = {source->name, 1, 1}; // diagnostics about missing keys point here
  recipe.text = source->text;
  const auto root = parse_document(*source, diagnostics);
  if (!root) return std::nullopt;
  RecipeReader(recipe, path.parent_path(), diagnostics).read(*root);
  return recipe;
}

fs::path identity_of(const fs::path& path)
{
  std::error_code error;
  auto identity = fs::weakly_canonical(path, error);
  return error ? path : identity;
}

// Combines a recipe with the recipe it extends.
RecipeFile over(RecipeFile base, RecipeFile recipe)
{
  base.settings.erase("name");
  base.settings.erase("description");
  base.settings.overlay(recipe.settings);
  recipe.settings = std::move(base.settings);
  const auto inherit = [](auto& own, auto& inherited) {
    if (!own) own = std::move(inherited);
  };
  inherit(recipe.profile, base.profile);
  inherit(recipe.label, base.label);
  inherit(recipe.matrix, base.matrix);
  inherit(recipe.zip, base.zip);
  inherit(recipe.include, base.include);
  inherit(recipe.exclude, base.exclude);
  return recipe;
}

// Whether `base` exists and is not one of the recipes that led to it.
bool may_extend(const fs::path& base, const std::vector<fs::path>& seen, const Mark& mark, Diagnostics& diagnostics)
{
  std::error_code error;
  if (std::find(seen.begin(), seen.end(), identity_of(base)) != seen.end()) {
    diagnostics.add(mark, "`extends` leads back to " + ticked(base.string()) + ": a recipe cannot extend itself");
    return false;
  }
  if (fs::exists(base, error) || error) return true; // the reader will explain why the file cannot be read
  diagnostics.add(mark, "the recipe " + ticked(base.string()) + " does not exist" + near_file(base));
  return false;
}

} // namespace

bool is_extension(std::string_view key) { return key.starts_with("x-"); }

void read_map(const Node& map, const std::string& prefix, const fs::path& folder, Settings& settings,
              const OnStructure& on_structure, Diagnostics& diagnostics)
{
  for (const auto& entry : map.entries) {
    if (prefix.empty() && is_extension(entry.key)) continue;
    // A full path is not a key in a file, because it could hide a duplicate.
    const bool is_name = entry.key.find('.') == entry.key.npos;
    const Key* key = is_name ? find_key(prefix + entry.key) : nullptr;
    if (key != nullptr && key->field == nullptr) {
      on_structure(*key, entry);
    } else if (key != nullptr) {
      read_key(*key, entry, folder, settings, diagnostics);
    } else if (is_name && is_block(prefix + entry.key)) {
      settings.set_block(prefix + entry.key, entry.mark);
      if (may_be_block(entry, settings, diagnostics))
        read_map(entry.value, prefix + entry.key + ".", folder, settings, on_structure, diagnostics);
    } else {
      diagnostics.add(entry.mark, unknown_key(entry.key, prefix));
      suspect(entry.key, prefix, settings);
    }
  }
}

std::optional<RecipeFile> read_recipe(const fs::path& path, Diagnostics& diagnostics)
{
  std::vector<RecipeFile> chain; // the recipe, the one it extends, and so on
  std::vector<fs::path> seen;
  auto next = path;
  do {
    seen.push_back(identity_of(next));
    auto recipe = read_one(next, diagnostics);
    if (!recipe) break;
    chain.push_back(std::move(*recipe));
    if (chain.back().extends) next = next.parent_path() / chain.back().extends->text;
  } while (chain.back().extends && may_extend(next, seen, chain.back().extends->mark, diagnostics));

  if (chain.empty()) return std::nullopt;
  const auto is_complete = [](const RecipeFile& recipe) { return recipe.complete; };
  const bool complete =
      chain.size() == seen.size() && !chain.back().extends && std::all_of(chain.begin(), chain.end(), is_complete);
  auto result = std::move(chain.back());
  for (auto at = chain.rbegin() + 1; at != chain.rend(); ++at) result = over(std::move(result), std::move(*at));
  result.complete = complete;
  return result;
}

} // namespace dt::recipes
