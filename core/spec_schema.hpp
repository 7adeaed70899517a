// The one table of a recipe's keys. The reader, its errors, the JSON Schema, the reference, the run's key, spec.json and the
// columns of the results database all come from these rows.
#pragma once

#include "core/names.hpp"
#include "core/run_spec.hpp"

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
  choice,       // one of key.choices
  duration,     // seconds; read as 90, 1h30m or HH:MM:SS
  integer_list,
  text_list,
  text_map,
  structure, // read by the recipe reader itself (version, sweep.matrix, …); has no field in RunSpec
};

using FieldRef = std::variant<std::int64_t*, double*, bool*, std::string*, std::vector<std::int64_t>*, std::vector<std::string>*,
                              std::map<std::string, std::string>*>;
using FieldValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<std::string>,
                                std::map<std::string, std::string>>;

struct Key {
  std::string_view path; // "train.global_batch"
  KeyType type;
  std::string_view unit; // "samples", "s", "" for a pure number
  double min, max;       // of numbers and of every list element, inclusive
  bool required;
  bool identity; // part of the run's key: a change makes another run
  std::span<const Name> choices;
  FieldRef (*field)(RunSpec&); // null for structure
  std::string_view help;
};

// All keys, block by block, in the order the reference shows them.
std::span<const Key> spec_keys();

// The row of "train.seed"; null when there is none.
const Key* find_key(std::string_view path);

// Whether the value is a path, of which the content is part of a run's key and the place is not.
bool names_content(const Key& key);

// The value of a key in a spec. The key must have a field.
FieldValue value_of(const RunSpec& spec, const Key& key);
void set_value(RunSpec& spec, const Key& key, const FieldValue& value);

// The value a recipe gets that does not mention the key.
FieldValue default_of(const Key& key);

// As people read it: numbers in their shortest exact form, lists joined by ", ", maps as "a=1, b=2".
std::string to_text(const FieldValue& value);

std::string_view name_of(KeyType type);

} // namespace dt
