// The table of all recipe keys. The recipe reader, its errors, the JSON Schema, the reference, the run key, spec.json and the
// columns of the results database are all derived from its rows.
#pragma once

#include "core/spec/names.hpp"
#include "core/spec/run_spec.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dt {

enum class KeyType {
  integer,
  real,
  boolean,
  text,
  choice,   // one of key.choices
  duration, // seconds; written as 90s, 1h30m, HH:MM:SS or D-HH:MM:SS
  rate,     // bytes/s; written as 10 Gbit/s or 1.25 GB/s
  moment,   // seconds; written as 50us or 1.5ms
  integer_list,
  text_list,
  text_map,
  structure, // handled by the recipe reader itself (version, sweep.matrix, …); has no field in RunSpec
};

// A field whose type is an enumeration, read and written as the word of its value. The field may be optional: nothing is "".
class ChoiceField {
 public:
  template<HasChoices Value>
  explicit ChoiceField(Value& field)
      : field_(&field), word_([](const void* at) { return name_of(*static_cast<const Value*>(at)); }),
        set_word_([](void* at, std::string_view word) {
          const auto found = find_choice<Value>(word);
          if (found) *static_cast<Value*>(at) = *found;
          return found.has_value();
        })
  {
  }
  template<HasChoices Value>
  explicit ChoiceField(std::optional<Value>& field)
      : field_(&field), word_([](const void* at) {
          const auto& value = *static_cast<const std::optional<Value>*>(at);
          return value ? name_of(*value) : std::string_view();
        }),
        set_word_([](void* at, std::string_view word) {
          const auto found = find_choice<Value>(word);
          if (found || word.empty()) *static_cast<std::optional<Value>*>(at) = found;
          return found || word.empty();
        })
  {
  }
  std::string_view word() const { return word_(field_); }
  // False if the enumeration does not have this word; the field is then unchanged.
  bool set_word(std::string_view word) const { return set_word_(field_, word); }
  const void* address() const { return field_; }

 private:
  void* field_;
  std::string_view (*word_)(const void*);
  bool (*set_word_)(void*, std::string_view);
};

using FieldRef = std::variant<std::int64_t*, double*, bool*, std::string*, std::vector<std::int64_t>*, std::vector<std::string>*,
                              std::map<std::string, std::string>*, ChoiceField>;
using FieldValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<std::string>,
                                std::map<std::string, std::string>>;

struct Key {
  std::string_view path; // "train.global_batch"
  KeyType type;
  std::string_view unit; // "samples", "s", "" for a pure number
  double min, max;       // of a number and of every list element, inclusive
  bool required;
  bool identity; // part of the run key: changing it makes a different run
  std::span<const Name> choices;
  FieldRef (*field)(RunSpec&); // null if type is structure
  std::string_view help;
  // A value as JSON, or a text as it is: `[1, 2, 4]`, `10m`. For keys whose choices or default do not show one.
  std::string_view example{};
};

// All keys, block by block, in the order of the reference.
std::span<const Key> spec_keys();

// Returns the row of a key such as "train.seed", or null if there is none.
const Key* find_key(std::string_view path);

// Whether the value is a path, or a list of paths, whose content is part of the run key, while the path itself is not.
bool names_content(const Key& key);

// The value of a key in a spec; of a choice its word. The key must have a field, also for set_value, which throws an environment
// error for a word that is not one of the key's choices: only a file that another dtctl wrote can have it.
FieldValue value_of(const RunSpec& spec, const Key& key);
void set_value(RunSpec& spec, const Key& key, const FieldValue& value);

// The value of a key that a recipe does not mention.
FieldValue default_of(const Key& key);

// Whether a document can name the default. It cannot where a recipe must give the key, where the default is out of the key's
// range (train.steps: 0) or an empty text, and where other keys decide, as the key's help says.
bool has_default(const Key& key);

// Formats a value for people: numbers in their shortest exact form, lists joined by ", ", maps as "a=1, b=2".
std::string to_text(const FieldValue& value);

std::string_view name_of(KeyType type);

} // namespace dt
