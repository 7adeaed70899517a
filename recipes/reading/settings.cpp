#include "recipes/reading/settings.hpp"

#include "core/program/program_files.hpp"
#include "core/spec/compute_profile.hpp"
#include "core/text.hpp"
#include "recipes/reading/data_keys.hpp"
#include "recipes/reading/platforms.hpp"
#include "recipes/reading/values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

using TextMap = std::map<std::string, std::string>;

std::string_view block_name(std::string_view path) { return path.substr(0, path.find('.')); }
std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::vector<std::string> settable_paths()
{
  std::vector<std::string> paths;
  for (const auto& key : spec_keys())
    if (key.field != nullptr) paths.emplace_back(key.path);
  return paths;
}

// The path of the key `name` if exactly one block has such a key: `epochs` gives `train.epochs`.
std::optional<std::string> only_key_called(std::string_view name)
{
  std::optional<std::string> found;
  for (const auto& path : settable_paths()) {
    if (last_name(path) != name) continue;
    if (found) return std::nullopt;
    found = path;
  }
  return found;
}

std::string unknown_path(std::string_view path)
{
  const auto paths = settable_paths();
  std::vector<std::string> siblings, blocks;
  for (const auto& known : paths) {
    if (block_name(known) == block_name(path)) siblings.push_back(known);
    if (known.find('.') != known.npos && (blocks.empty() || blocks.back() != block_name(known)))
      blocks.emplace_back(block_name(known));
  }
  auto near = only_key_called(last_name(path));
  if (!near) near = nearest(path, paths);
  std::string text = "unknown key " + ticked(path);
  text += near ? "; did you mean `" + *near + "`? " : "; ";
  text += near ? "Allowed" : "allowed";
  return siblings.empty() ? text + ": a full path in " + join(blocks, ", ") : text + ": " + join(siblings, ", ");
}

std::string structure_advice(const Key& key)
{
  if (key.path.starts_with("sweep.")) return "; a sweep is written in the recipe, or as --over key.path=a,b,c";
  if (key.path == "profile") return "; write it in the recipe, or use --profile";
  return "; it can only be set in the recipe";
}

void make_absolute(FieldValue& value, const fs::path& folder)
{
  if (auto* files = std::get_if<std::vector<std::string>>(&value)) {
    for (auto& file : *files) file = program_entry(folder, file);
    return;
  }
  auto& path = std::get<std::string>(value);
  if (!path.empty()) path = fs::absolute(folder / path).lexically_normal().string();
}

// Whether the value is a path. data.set is a name in the home. Platforms and compute profiles may also be names of shipped ones.
bool names_file(const Key& key, const FieldValue& value)
{
  if (key.path == "resources.platform") return is_platform_file(std::get<std::string>(value));
  if (key.path == "train.compute_profile") return is_compute_profile_path(std::get<std::string>(value));
  return names_content(key) && key.path != "data.set";
}

Node scalar_node(const Source& source, const std::string& text)
{
  Node node;
  node.kind = Node::Kind::scalar;
  node.mark = source.whole();
  node.text = text;
  return node;
}

// Texts are used as they are, so that no second level of quotes is needed. Other values are YAML; a list does not need brackets.
std::optional<Node> parse_option_value(const KeyPath& key, const std::string& text, Diagnostics& diagnostics)
{
  Source source{std::make_shared<const std::string>("--set"), text, false};
  const auto type = key.key->type;
  const bool is_text = type == KeyType::text || type == KeyType::choice || type == KeyType::duration || type == KeyType::rate ||
                       type == KeyType::moment || !key.member.empty();
  if (is_text && !text.starts_with('"') && !text.starts_with('\'')) return scalar_node(source, text);
  if ((type == KeyType::integer_list || type == KeyType::text_list) && !text.starts_with('[')) source.text = "[" + text + "]";
  return parse_document(source, diagnostics);
}

// Whether somebody may have meant several values of a key that takes one: "0.1,0.2", "[0.1, 0.2]", "1..8".
bool looks_like_values(const Key& key, std::string_view text)
{
  const bool takes_many = key.type == KeyType::integer_list || key.type == KeyType::text_list || key.type == KeyType::text_map;
  return !takes_many && key.identity && (text.find(',') != text.npos || text.find("..") != text.npos);
}

std::string over_advice(const OptionText& option)
{
  auto values = std::string(trim(option.value));
  if (values.starts_with('[') && values.ends_with(']')) values = values.substr(1, values.size() - 2);
  return "; to run it with each of several values, use --over " + option.path + "=" + printable(values);
}

// If the assignment sets the data set, returns the keys that this data set does not use.
std::vector<const Key*> useless_beside(const Assignment& assignment)
{
  std::vector<const Key*> useless;
  if (assignment.key->path != "data.name") return useless;
  for (const auto& key : data_keys())
    if (!uses(std::get<std::string>(assignment.value), key)) useless.push_back(find_key(key.path));
  return useless;
}

} // namespace

const Key* alternative_of(const Key& key)
{
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> pairs{
      {{"train.batch_per_rank", "train.global_batch"}, {"train.epochs", "train.steps"}, {"study.ranks", "study.nodes"}}};
  for (const auto& [one, other] : pairs) {
    if (key.path == one) return find_key(other);
    if (key.path == other) return find_key(one);
  }
  return nullptr;
}

void assign(RunSpec& spec, const Assignment& assignment)
{
  if (const Key* other = alternative_of(*assignment.key)) set_value(spec, *other, default_of(*other));
  for (const Key* key : useless_beside(assignment)) set_value(spec, *key, default_of(*key));
  if (const auto* added = std::get_if<TextMap>(&assignment.value)) {
    auto* map = std::get<TextMap*>(assignment.key->field(spec));
    for (const auto& [name, text] : *added) map->insert_or_assign(name, text);
    return;
  }
  set_value(spec, *assignment.key, assignment.value);
}

void Settings::set(Assignment assignment)
{
  if (const Key* other = alternative_of(*assignment.key)) given_.erase(other);
  const auto found = given_.find(assignment.key);
  if (found != given_.end() && assignment.key->type == KeyType::text_map) {
    auto weaker = std::get<TextMap>(found->second.value);
    std::get<TextMap>(assignment.value).merge(weaker);
  }
  given_.insert_or_assign(assignment.key, std::move(assignment));
}

void Settings::erase(std::string_view path)
{
  given_.erase(find_key(path));
  unreadable_.erase(find_key(path));
}

void Settings::overlay(const Settings& stronger)
{
  if (const auto* data = stronger.find("data.name"))
    for (const Key* key : useless_beside(*data)) given_.erase(key);
  for (const auto& [key, assignment] : stronger.given_) set(assignment);
  for (const auto& [key, yes] : stronger.unreadable_) unreadable_.insert_or_assign(key, yes);
  for (const auto& [name, mark] : stronger.blocks_) blocks_.insert_or_assign(name, mark);
}

const Assignment* Settings::find(std::string_view path) const
{
  const auto found = given_.find(find_key(path));
  return found == given_.end() ? nullptr : &found->second;
}

const Mark* Settings::block_of(std::string_view path) const
{
  const auto found = blocks_.find(block_name(path));
  return found == blocks_.end() ? nullptr : &found->second;
}

void Settings::apply(RunSpec& spec) const
{
  for (const auto& [key, assignment] : given_) assign(spec, assignment);
}

std::optional<KeyPath> resolve_path(std::string_view path, const Mark& mark, Diagnostics& diagnostics)
{
  if (const Key* key = find_key(path)) {
    if (key->field != nullptr) return KeyPath{key, {}};
    diagnostics.add(mark, ticked(path) + " cannot be set here" + structure_advice(*key));
    return std::nullopt;
  }
  const auto dot = path.find('.', path.find('.') + 1);
  const Key* map = dot == path.npos ? nullptr : find_key(path.substr(0, dot));
  if (map != nullptr && map->type == KeyType::text_map) return KeyPath{map, std::string(path.substr(dot + 1))};
  diagnostics.add(mark, unknown_path(path));
  return std::nullopt;
}

std::optional<Assignment> read_assignment(std::string_view path, const Mark& mark, const Node& value, const fs::path& folder,
                                          Diagnostics& diagnostics)
{
  const auto key = resolve_path(path, mark, diagnostics);
  if (!key) return std::nullopt;
  Node member_map;
  if (!key->member.empty()) {
    member_map.kind = Node::Kind::map;
    member_map.mark = value.mark;
    member_map.entries.push_back({key->member, mark, value});
  }
  auto read = read_value(*key->key, key->member.empty() ? value : member_map, diagnostics);
  if (!read) return std::nullopt;
  auto text = dt::to_text(*read);
  if (names_file(*key->key, *read)) make_absolute(*read, folder);
  Assignment assignment{key->key, std::string(path), std::move(*read), value.mark, std::move(text)};
  for (const auto& item : value.items) assignment.items.push_back(item.mark);
  return assignment;
}

std::optional<OptionText> split_option(std::string_view option, const std::string& text, Diagnostics& diagnostics)
{
  const Mark mark{std::make_shared<const std::string>(option), 0, 0};
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    diagnostics.add(mark, ticked(text) + " is not of the form key.path=value");
    return std::nullopt;
  }
  if (!is_valid_utf8(text) || text.find('\0') != text.npos) {
    diagnostics.add(mark, ticked(text) + " is not UTF-8 text");
    return std::nullopt;
  }
  return OptionText{std::string(trim(std::string_view(text).substr(0, equals))), text.substr(equals + 1)};
}

Settings read_set_options(const std::vector<std::string>& options, Diagnostics& diagnostics)
{
  Settings settings;
  const Mark mark{std::make_shared<const std::string>("--set"), 0, 0};
  for (const auto& option : options) {
    const auto parts = split_option("--set", option, diagnostics);
    const auto key = parts ? resolve_path(parts->path, mark, diagnostics) : std::nullopt;
    if (!key) continue;
    Diagnostics mistakes;
    const auto value = parse_option_value(*key, parts->value, mistakes);
    auto assignment = value ? read_assignment(parts->path, mark, *value, fs::current_path(), mistakes) : std::nullopt;
    for (const auto& mistake : mistakes.sorted())
      diagnostics.add(mark, mistake.message + (looks_like_values(*key->key, parts->value) ? over_advice(*parts) : ""));
    if (assignment)
      settings.set(std::move(*assignment));
    else
      settings.set_unreadable(*key->key);
  }
  return settings;
}

} // namespace dt::recipes
