// The one table of the layers of a recipe's own network (model.layers). The reader and its errors, the reference, the JSON
// Schema, `dtctl models --layers` and the engine's reader of lines all come from its rows.
//
// A layer is one canonical line: its kind, then its attributes in the order of their names, those at their default left out.
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
  words,   // two or more of them
  outputs, // an integer, or "classes"
};

struct Attribute {
  std::string_view name;
  AttributeType type;
  double min, max; // of numbers, inclusive; of words, how many
  bool required;
  std::string_view default_text; // as in a line; empty: none
  std::string_view help;
};

struct LayerKind {
  std::string_view name;
  std::string_view help;
  std::vector<Attribute> attributes; // in the order in which they are documented
};

std::span<const LayerKind> layer_kinds();
// Null when there is none.
const LayerKind* find_layer_kind(std::string_view name);
const Attribute* find_attribute(const LayerKind& kind, std::string_view name);
std::vector<std::string> layer_kind_names();
std::vector<std::string> attribute_names(const LayerKind& kind);

// "a whole number, 1 to 65536": what an attribute takes.
std::string allowed_text(const Attribute& attribute);

// A value in its canonical form, or why it is none: "must be a whole number, not `abc`".
struct CheckedValue {
  std::string text, problem;
};
CheckedValue check_value(const Attribute& attribute, std::string_view text);

// What a network's layers call the images that go in.
inline constexpr std::string_view images_name = "images";

struct LayerLine {
  std::string kind;
  std::map<std::string, std::string> attributes{}; // canonical values; defaults may be left out

  bool has(const std::string& attribute) const { return attributes.contains(attribute); }
  // The value, or the default; empty when there is neither.
  std::string get(const std::string& attribute) const;
  std::int64_t integer(const std::string& attribute) const;
  double real(const std::string& attribute) const;
  bool boolean(const std::string& attribute) const { return get(attribute) == "true"; }
};

// Without the attributes that are at their default.
std::string to_text(const LayerLine& layer);
// Checks kind, names, values and that nothing required is missing. A recipe error in a sentence.
LayerLine parse_layer(std::string_view line);

// Names by which other layers know these: given, else the kind and the place from 1 ("relu3").
std::vector<std::string> layer_names(std::span<const LayerLine> layers);
// What each layer takes: places of layers, -1 for the images. Without `input` the layer before.
using LayerInputs = std::vector<std::vector<int>>;
LayerInputs layer_inputs(std::span<const LayerLine> layers);

struct LayerProblem {
  std::size_t layer; // its place, from 0
  std::string message;
};
// Wrong between layers: names given twice, inputs that no earlier layer has, layers that nobody uses.
std::vector<LayerProblem> find_layer_problems(std::span<const LayerLine> layers);

} // namespace dt
