// Settings: values of keys with their places, and layers of them that override each other.
#pragma once

#include "core/spec/spec_schema.hpp"
#include "recipes/reading/document.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// Returns the key that expresses the same setting in another way (batch_per_rank and global_batch, epochs and steps, study.ranks
// and study.nodes), or null. Setting one key removes the other.
const Key* alternative_of(const Key& key);

// One key with one value.
struct Assignment {
  const Key* key = nullptr;
  std::string path; // as given: the path of the key, or resources.env.NAME
  FieldValue value;
  Mark mark;                 // place of the value
  std::string text;          // the value as given, before a path was made absolute
  std::vector<Mark> items{}; // places of the elements of a list
};

// Puts the value into the spec. Resets an alternative key, and the keys that a new data set does not use. Entries of a map are
// added one by one; every other value is replaced.
void assign(RunSpec& spec, const Assignment& assignment);

// One layer: the keys that are given, and the keys that were given but could not be read.
class Settings {
 public:
  void set(Assignment assignment);
  // Marks a key that is given wrongly, so that no further problem that depends on it is reported.
  void set_unreadable(const Key& key) { unreadable_.insert_or_assign(&key, true); }
  void set_block(std::string name, Mark mark) { blocks_.insert_or_assign(std::move(name), std::move(mark)); }
  void erase(std::string_view path);
  // Puts a stronger layer over this one. If it names another data set, this layer loses the keys that the data set does not use.
  void overlay(const Settings& stronger);

  bool is_unreadable(const Key& key) const { return unreadable_.contains(&key); }
  const Assignment* find(std::string_view path) const;
  // Where the block of a key begins; null if the block is not given.
  const Mark* block_of(std::string_view path) const;
  void apply(RunSpec& spec) const;
  const std::map<const Key*, Assignment>& given() const { return given_; } // in the order of the key table

 private:
  std::map<const Key*, Assignment> given_;
  std::map<const Key*, bool> unreadable_;
  std::map<std::string, Mark, std::less<>> blocks_;
};

// The meaning of a full path such as "train.epochs" or "resources.env.NAME".
struct KeyPath {
  const Key* key = nullptr;
  std::string member; // name of an entry in a map
};

// Returns nothing, and adds a diagnostic with the nearest key, if there is no such key.
std::optional<KeyPath> resolve_path(std::string_view path, const Mark& mark, Diagnostics& diagnostics);

// Reads a value for a full path. Relative paths (data.path, program.files, train.start_from) are resolved against `folder`.
std::optional<Assignment> read_assignment(std::string_view path, const Mark& mark, const Node& value,
                                          const std::filesystem::path& folder, Diagnostics& diagnostics);

// "key.path=value" from the command line. `option` is "--set" or "--over".
struct OptionText {
  std::string path, value;
};
std::optional<OptionText> split_option(std::string_view option, const std::string& text, Diagnostics& diagnostics);

// Reads all --set options as one layer.
Settings read_set_options(const std::vector<std::string>& options, Diagnostics& diagnostics);

} // namespace dt::recipes
