#include "recipes/reading/profiles.hpp"

#include "core/files/file.hpp"
#include "core/lookup.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "recipes/reading/price.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace dt::recipes {
namespace fs = std::filesystem;

ProfileBook::ProfileBook(const LoadOptions& options, Diagnostics& diagnostics)
{
  for (const auto& path : {options.user_config, options.project_config}) {
    if (path.empty()) continue;
    files_ += (files_.empty() ? "" : " or ") + path.string();
    if (is_there(path)) read_file(path, diagnostics);
  }
  check_extends(diagnostics);
}

void ProfileBook::read_file(const fs::path& path, Diagnostics& diagnostics)
{
  const auto source = read_source(path, diagnostics);
  const auto root = source ? parse_document(*source, diagnostics) : std::nullopt;
  if (!root || root->kind == Node::Kind::null) return;
  if (root->kind != Node::Kind::map)
    return diagnostics.add(root->mark, "a configuration must be a map of keys, not " + describe(*root));
  static const std::vector<std::string> allowed{"profiles"};
  for (const auto& entry : root->entries) {
    if (is_extension(entry.key)) continue;
    if (entry.key != allowed.front()) {
      diagnostics.add(entry.mark, "unknown key " + ticked(entry.key) + advice(entry.key, allowed));
    } else if (entry.value.kind == Node::Kind::map) {
      for (const auto& profile : entry.value.entries) read_profile(profile, path.parent_path(), diagnostics);
    } else if (entry.value.kind != Node::Kind::null) {
      diagnostics.add(entry.value.mark, "`profiles` must be a map of profiles, not " + describe(entry.value));
    }
  }
}

void ProfileBook::read_profile(const Entry& entry, const fs::path& folder, Diagnostics& diagnostics)
{
  auto& profile = profiles_[entry.key];
  profile.mark = entry.mark;
  if (entry.value.kind == Node::Kind::null) return;
  if (entry.value.kind != Node::Kind::map)
    return diagnostics.add(entry.value.mark, "the profile " + ticked(entry.key) + " must be a map, not " + describe(entry.value));
  static const std::vector<std::string> allowed{"extends", "resources", "network", "platform", "cost"};
  Settings settings;
  for (const auto& part : entry.value.entries) {
    const bool has_settings = part.key == "resources" || part.key == "platform";
    if (has_settings && part.value.kind == Node::Kind::map) {
      read_map(part.value, part.key + ".", folder, settings, {}, diagnostics);
    } else if (has_settings && part.value.kind != Node::Kind::null) {
      diagnostics.add(part.value.mark, ticked(part.key) + " must be a map of keys, not " + describe(part.value));
    } else if (part.key == "network" && part.value.kind != Node::Kind::null) {
      if (auto network = read_network(part.value, diagnostics)) profile.network = *network;
    } else if (part.key == "cost" && part.value.kind != Node::Kind::null) {
      if (auto price = read_price(part.value, diagnostics)) profile.price = std::move(price);
    } else if (part.key == "extends" && part.value.kind == Node::Kind::scalar) {
      profile.extends = MarkedText{part.value.text, part.value.mark};
    } else if (part.key == "extends") {
      diagnostics.add(part.value.mark, "`extends` must be a profile's name, not " + describe(part.value));
    } else if (!has_settings && part.key != "network" && part.key != "cost") {
      diagnostics.add(part.mark,
                      "unknown key " + ticked(part.key) + " in the profile " + ticked(entry.key) + advice(part.key, allowed));
    }
  }
  profile.settings.overlay(settings);
}

// Checks that all profiles named in `extends` exist and that no chain is a cycle.
void ProfileBook::check_extends(Diagnostics& diagnostics) const
{
  for (const auto& [name, start] : profiles_) {
    std::set<std::string> seen{name};
    for (const auto* profile = &start; profile->extends;) {
      const auto& next = *profile->extends;
      const auto found = profiles_.find(next.text);
      if (found == profiles_.end()) {
        diagnostics.add(next.mark, unknown_name("profile", next.text, names()));
        break;
      }
      if (!seen.insert(next.text).second) {
        diagnostics.add(next.mark, "`extends` leads back to " + ticked(next.text) + ": a profile cannot extend itself");
        break;
      }
      profile = &found->second;
    }
  }
}

std::vector<std::string> ProfileBook::names() const
{
  std::vector<std::string> names;
  for (const auto& [name, profile] : profiles_) names.push_back(name);
  return names;
}

// The profile and those it extends, itself first. The chain may be broken or a cycle (check_extends has reported it); then the
// part up to there counts.
std::vector<const ProfileBook::Definition*> ProfileBook::chain_of(const Definition& definition) const
{
  std::vector<const Definition*> chain{&definition};
  while (chain.back()->extends) {
    const auto next = profiles_.find(chain.back()->extends->text);
    if (next == profiles_.end() || std::find(chain.begin(), chain.end(), &next->second) != chain.end()) break;
    chain.push_back(&next->second);
  }
  return chain;
}

Settings ProfileBook::resolve(const Definition& definition) const
{
  const auto chain = chain_of(definition);
  Settings settings;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) settings.overlay((*at)->settings);
  return settings;
}

Settings ProfileBook::find(const std::string& name, const Mark& mark, Diagnostics& diagnostics) const
{
  if (const auto found = profiles_.find(name); found != profiles_.end()) return resolve(found->second);
  if (!profiles_.empty())
    diagnostics.add(mark, unknown_name("profile", name, names()));
  else
    diagnostics.add(mark, "there is no profile " + ticked(name) + "; no profiles are configured" +
                              (files_.empty() ? "" : "; profiles are read from `profiles:` in " + files_));
  return {};
}

namespace {

// The value as a recipe could have it; a duration with its unit.
std::string shown_value(const Key& key, const FieldValue& value)
{
  if (key.type != KeyType::duration) return text_without_secrets(value);
  const auto seconds = std::get<std::int64_t>(value);
  const auto text = format_duration(static_cast<double>(seconds));
  return parse_duration_s(text) == seconds ? text : std::to_string(seconds) + "s";
}

} // namespace

std::optional<Price> ProfileBook::price_of(const std::string& name) const
{
  const auto found = profiles_.find(name);
  if (found == profiles_.end()) return std::nullopt;
  for (const auto* part : chain_of(found->second))
    if (part->price) return part->price;
  return std::nullopt;
}

std::vector<Profile> ProfileBook::list() const
{
  std::vector<Profile> profiles;
  for (const auto& [name, definition] : profiles_) {
    Profile profile{.name = name, .file = *definition.mark.file, .values = {}, .network = {}};
    const auto settings = resolve(definition);
    for (const auto& [key, assignment] : settings.given())
      profile.values.emplace_back(key->path, shown_value(*key, assignment.value));
    for (const auto* part : chain_of(definition))
      if (!profile.network) profile.network = part->network;
    profile.price = price_of(name);
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

} // namespace dt::recipes
