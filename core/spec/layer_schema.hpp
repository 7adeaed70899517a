// The table of layer kinds for networks described in a recipe (model.layers). The recipe reader and its errors, the reference,
// the JSON Schema, `dtctl recipe models --layers` and the engine's parser of layer lines are all derived from its rows.
//
// A layer is one canonical line: its kind, then its attributes sorted by name, without those at their default.
//   line      = kind { SP attribute "=" value }        "convolution channels=32 kernel=3 padding=1"
//   value     = number | "true" | "false" | word | word { "," word }
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

enum class AttributeType {
  integer,
  real,
  boolean,
  word,    // letters, digits and _ . -
  words,   // a list of words, separated by commas
  outputs, // an integer, or "classes"
};

struct Attribute {
  std::string_view name;
  AttributeType type;
  double min, max; // of a number: its range, inclusive; of a list of words: how many
  bool required;
  std::string_view default_text; // as in a line; empty: no default
  std::string_view help;
};

struct LayerKind {
  std::string_view name;
  std::string_view help;
  std::vector<Attribute> attributes; // in the order in which they are documented
};

std::span<const LayerKind> layer_kinds();
// Returns null for an unknown name, as does find_attribute.
const LayerKind* find_layer_kind(std::string_view name);
const Attribute* find_attribute(const LayerKind& kind, std::string_view name);
std::vector<std::string> layer_kind_names();
std::vector<std::string> attribute_names(const LayerKind& kind);

// Describes the values that an attribute accepts: "a whole number, 1 to 65536".
std::string allowed_text(const Attribute& attribute);

// A value in canonical form, or the problem with it: "must be a whole number, not `abc`".
struct CheckedValue {
  std::string text, problem;
};
CheckedValue check_value(const Attribute& attribute, std::string_view text);

// The name under which layers refer to the network's input images.
inline constexpr std::string_view images_name = "images";

struct LayerLine {
  std::string kind;
  std::map<std::string, std::string> attributes{}; // canonical values; defaults may be missing

  bool has(const std::string& attribute) const { return attributes.contains(attribute); }
  // Returns the value, or the default if it is not given. Empty if there is neither.
  std::string get(const std::string& attribute) const;
  std::int64_t integer(const std::string& attribute) const;
  double real(const std::string& attribute) const;
  bool boolean(const std::string& attribute) const { return get(attribute) == "true"; }
};

// Writes a layer as a line, without the attributes that are at their default.
std::string to_text(const LayerLine& layer);
// Reads a line; checks the kind, the attribute names, the values and that no required attribute is missing. Throws a recipe
// error.
LayerLine parse_layer(std::string_view line);

// The names of the layers: the given name, else the kind followed by the position, counted from 1 ("relu3").
std::vector<std::string> layer_names(std::span<const LayerLine> layers);
// For each layer the positions of its inputs (-1: the images). A layer without `input` takes the output of the previous layer.
using LayerInputs = std::vector<std::vector<int>>;
LayerInputs layer_inputs(std::span<const LayerLine> layers);

struct LayerProblem {
  std::size_t layer; // its position, counted from 0
  std::string message;
};
// Finds errors between layers: names given twice, inputs that are not the name of an earlier layer, layers whose output nobody
// uses.
std::vector<LayerProblem> find_layer_problems(std::span<const LayerLine> layers);

} // namespace dt
