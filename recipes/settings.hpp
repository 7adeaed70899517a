// Values of keys with their places, and how layers of them lie over one another.
#pragma once

#include "core/spec_schema.hpp"
#include "recipes/document.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// The key that says the same in another way (batch_per_rank and global_batch, epochs and steps, study.ranks and
// study.nodes): giving one takes the other away. Null for all others.
const Key* alternative_of(const Key& key);

// One key with one value.
struct Assignment {
  const Key* key = nullptr;
  std::string path; // as given: the key's, or resources.env.NAME
  FieldValue value;
  Mark mark;        // of the value
  std::string text; // the value as it was given, before a path became absolute
  std::vector<Mark> items{}; // of the elements of a list
};

// Puts the value into the spec: takes away an alternative and what another data set does not look at, adds to a map name by
// name, replaces everything else.
void assign(RunSpec& spec, const Assignment& assignment);

// One layer: what is given, and what was meant to be given but could not be read.
class Settings {
 public:
  void set(Assignment assignment);
  // The key is spoken of, but wrongly: nothing that depends on it is to be complained about.
  void set_unreadable(const Key& key) { unreadable_.insert_or_assign(&key, true); }
  void set_block(std::string name, Mark mark) { blocks_.insert_or_assign(std::move(name), std::move(mark)); }
  void erase(std::string_view path);
  // Puts a stronger layer over this one. Where that names another data set, the keys that it does not look at leave this one.
  void overlay(const Settings& stronger);

  bool is_unreadable(const Key& key) const { return unreadable_.contains(&key); }
  const Assignment* find(std::string_view path) const;
  // Where the block of a key begins; null when there is none.
  const Mark* block_of(std::string_view path) const;
  void apply(RunSpec& spec) const;
  const std::map<const Key*, Assignment>& given() const { return given_; } // in the table's order

 private:
  std::map<const Key*, Assignment> given_;
  std::map<const Key*, bool> unreadable_;
  std::map<std::string, Mark, std::less<>> blocks_;
};

// What a full path as "train.epochs" or "resources.env.NAME" names.
struct KeyPath {
  const Key* key = nullptr;
  std::string member; // of a map
};

// Nothing, and a diagnostic with the nearest key, when there is no such key.
std::optional<KeyPath> resolve_path(std::string_view path, const Mark& mark, Diagnostics& diagnostics);

// Reads a full path with its value. Relative paths (data.path, train.start_from) lie in `folder`.
std::optional<Assignment> read_assignment(std::string_view path, const Mark& mark, const Node& value,
                                          const std::filesystem::path& folder, Diagnostics& diagnostics);

// "key.path=value" of the command line, where `option` is "--set" or "--over".
struct OptionText {
  std::string path, value;
};
std::optional<OptionText> split_option(std::string_view option, const std::string& text, Diagnostics& diagnostics);

// All --set options as one layer.
Settings read_set_options(const std::vector<std::string>& options, Diagnostics& diagnostics);

} // namespace dt::recipes
