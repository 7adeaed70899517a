#include "core/spec/layer_schema.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace dt {
namespace {

using enum AttributeType;
constexpr bool yes = true, no = false;
constexpr double most_maps = 65536, most_units = 1'000'000, longest_side = 1024;

// Columns: name, type, min, max, required, default, help.
constexpr Attribute name{
    "name", word, 0, 0, no, "", "what errors, tables and later layers call the layer; its kind and place when left out"};
constexpr Attribute input{
    "input", word, 0, 0, no, "", "name of the layer whose output it takes, or images; the layer before when left out"};
constexpr Attribute inputs{"inputs", words, 2, 64, yes, "", "names of the layers whose outputs it takes"};
constexpr Attribute kernel{"kernel", integer, 1, longest_side, yes, "", "pixels of a window's side"};
constexpr Attribute padding{"padding", integer, 0, longest_side, no, "0", "pixels added on each side"};
constexpr Attribute ceil{"ceil", boolean, 0, 0, no, "false", "take the border's last, incomplete window too"};
constexpr Attribute pooling_stride{"stride", integer, 1, longest_side, yes, "", "pixels from one window to the next"};

std::vector<LayerKind> make_kinds()
{
  return {
      {"convolution",
       "weighted sums over windows",
       {{"channels", integer, 1, most_maps, yes, "", "maps that it makes"},
        kernel,
        {"stride", integer, 1, longest_side, no, "1", "pixels from one window to the next"},
        padding,
        {"groups", integer, 1, most_maps, no, "1", "parts of the channels that know nothing of each other"},
        {"bias", boolean, 0, 0, no, "true", "add a trained constant to each map; needless before batch_norm"},
        name,
        input}},
      {"batch_norm", "each channel normalised over the batch, then scaled and shifted by trained factors", {name, input}},
      {"relu", "max(x, 0)", {name, input}},
      {"max_pooling", "the largest value of each window", {kernel, pooling_stride, padding, ceil, name, input}},
      {"average_pooling", "the mean of each window", {kernel, pooling_stride, padding, ceil, name, input}},
      {"global_average_pooling", "the mean of each channel", {name, input}},
      {"lrn",
       "local response normalisation over channels: x / (k + alpha/size x sum of squares)^beta",
       {{"size", integer, 1, 101, no, "5", "channels of a sum; odd"},
        {"alpha", real, 0, 1000, no, "1e-04", "weight of the sum"},
        {"beta", real, 0, 10, no, "0.75", "exponent"},
        {"k", real, 1e-6, 1000, no, "2", "what is added to the sum"},
        name,
        input}},
      {"dropout",
       "in training, values are left out at random and the others scaled up",
       {{"rate", real, 0, 0.99, no, "0.5", "share that is left out"}, name, input}},
      {"add", "the sum of outputs of one shape", {inputs, name}},
      {"concat", "channels of all inputs, one behind the other", {inputs, name}},
      {"inner_product",
       "every output a weighted sum of all values, and a bias",
       {{"outputs", outputs, 1, most_units, yes, "", "how many; `classes`: one a class of the data set"}, name, input}},
  };
}

const std::vector<LayerKind>& kinds()
{
  static const auto table = make_kinds();
  return table;
}

std::string number_text(double value)
{
  return value == std::floor(value) ? std::to_string(static_cast<std::int64_t>(value)) : format_shortest(value);
}

std::string range_text(const Attribute& attribute) { return number_text(attribute.min) + " to " + number_text(attribute.max); }

CheckedValue refuse_type(const Attribute& attribute, std::string_view text)
{
  return {"", fmt::format("must be {}, not `{}`", allowed_text(attribute), printable(text.substr(0, 80)))};
}

CheckedValue refuse_range(const Attribute& attribute, std::string_view text)
{
  return {"", fmt::format("is {}; allowed: {}", printable(text.substr(0, 80)), range_text(attribute))};
}

template<class Number> CheckedValue check_number(const Attribute& attribute, std::string_view text)
{
  Number value = 0;
  const auto* end = text.data() + text.size();
  auto [read, error] = std::from_chars(text.data(), end, value);
  if constexpr (std::is_integral_v<Number>)
    if (const auto whole = whole_of_decimal(text); read != end && whole) value = *whole, read = end;
  if (read != end || text.empty() || error == std::errc::invalid_argument) return refuse_type(attribute, text);
  const auto number = static_cast<double>(value);
  if (error != std::errc() || !(number >= attribute.min && number <= attribute.max)) return refuse_range(attribute, text);
  if constexpr (std::is_integral_v<Number>) return {std::to_string(value), ""};
  return {format_shortest(number), ""};
}

bool is_word(std::string_view text)
{
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits);
}

CheckedValue check_words(const Attribute& attribute, std::string_view text)
{
  const auto parts = split(text, ',');
  const auto count = static_cast<double>(parts.size());
  if (!std::all_of(parts.begin(), parts.end(), is_word) || count < attribute.min || count > attribute.max)
    return refuse_type(attribute, text);
  return {std::string(text), ""};
}

[[noreturn]] void refuse_layer(std::string_view line, const std::string& what)
{
  throw Error(ErrorKind::recipe, fmt::format("The layer `{}` {}.", printable(line.substr(0, 200)), what));
}

void parse_attribute(std::string_view line, const LayerKind& kind, std::string_view text, LayerLine& layer)
{
  const auto equals = text.find('=');
  if (equals == text.npos)
    refuse_layer(line, fmt::format("holds `{}`, which is not of the form attribute=value", printable(text)));
  const std::string name_given(text.substr(0, equals));
  const auto* attribute = find_attribute(kind, name_given);
  if (!attribute)
    refuse_layer(line, fmt::format("has no attribute `{}`{}", printable(name_given), advice(name_given, attribute_names(kind))));
  auto value = check_value(*attribute, text.substr(equals + 1));
  if (!value.problem.empty()) refuse_layer(line, fmt::format("is wrong: `{}` {}", name_given, value.problem));
  if (!layer.attributes.emplace(name_given, std::move(value.text)).second)
    refuse_layer(line, fmt::format("gives `{}` twice", name_given));
}

// Resolves the input names of all layers to positions, and collects the problems that it finds.
class Wiring {
 public:
  explicit Wiring(std::span<const LayerLine> layers) : layers_(layers), names_(layer_names(layers)) {}

  void read()
  {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      inputs.push_back(inputs_of(i));
      const bool is_new = places_.emplace(names_[i], static_cast<int>(i)).second;
      if (!is_new || names_[i] == images_name)
        problems.push_back({i, fmt::format("the name `{}` is {}", names_[i], is_new ? "the images' own" : "given twice")});
    }
    find_unused();
  }

  LayerInputs inputs;
  std::vector<LayerProblem> problems;

 private:
  std::vector<int> inputs_of(std::size_t i)
  {
    const auto& layer = layers_[i];
    const auto given = layer.has("inputs") ? layer.get("inputs") : layer.get("input");
    if (given.empty()) return {static_cast<int>(i) - 1};
    std::vector<int> places;
    for (const auto& wanted : split(given, ',')) places.push_back(place_of(i, wanted));
    return places;
  }

  int place_of(std::size_t i, const std::string& wanted)
  {
    if (wanted == images_name) return -1;
    if (const auto found = places_.find(wanted); found != places_.end()) return found->second;
    std::vector<std::string> known(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(i));
    known.emplace_back(images_name);
    const bool is_later = std::find(names_.begin(), names_.end(), wanted) != names_.end();
    problems.push_back({i, is_later ? fmt::format("its input `{}` comes only later", wanted)
                                    : fmt::format("there is no layer `{}` before it{}", wanted, advice(wanted, known))});
    return -1;
  }

  void find_unused()
  {
    std::set<int> used;
    for (const auto& places : inputs) used.insert(places.begin(), places.end());
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i)
      if (problems.empty() && !used.contains(static_cast<int>(i)))
        problems.push_back({i, "no later layer uses its output; name it as an input, or remove it"});
  }

  std::span<const LayerLine> layers_;
  std::vector<std::string> names_;
  std::map<std::string, int> places_;
};

} // namespace

std::span<const LayerKind> layer_kinds() { return kinds(); }

const LayerKind* find_layer_kind(std::string_view name)
{
  const auto found = std::find_if(kinds().begin(), kinds().end(), [&](const LayerKind& kind) { return kind.name == name; });
  return found == kinds().end() ? nullptr : &*found;
}

const Attribute* find_attribute(const LayerKind& kind, std::string_view name)
{
  const auto& all = kind.attributes;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Attribute& attribute) { return attribute.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> layer_kind_names()
{
  std::vector<std::string> names;
  for (const auto& kind : kinds()) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> attribute_names(const LayerKind& kind)
{
  std::vector<std::string> names;
  for (const auto& attribute : kind.attributes) names.emplace_back(attribute.name);
  return names;
}

std::string allowed_text(const Attribute& attribute)
{
  switch (attribute.type) {
  case integer:
    return "a whole number, " + range_text(attribute);
  case real:
    return "a number, " + range_text(attribute);
  case boolean:
    return "true or false";
  case word:
    return "a word of letters, digits, _, . and -";
  case words:
    return "a list of " + range_text(attribute) + " words of letters, digits, _, . and -";
  case outputs:
    return "a whole number, " + range_text(attribute) + ", or `classes`";
  }
  return "";
}

CheckedValue check_value(const Attribute& attribute, std::string_view text)
{
  switch (attribute.type) {
  case integer:
    return check_number<std::int64_t>(attribute, text);
  case real:
    return check_number<double>(attribute, text);
  case words:
    return check_words(attribute, text);
  case outputs:
    if (text == "classes") return {std::string(text), ""};
    return check_number<std::int64_t>(attribute, text);
  case boolean:
    if (text == "true" || text == "false") return {std::string(text), ""};
    break;
  case word:
    if (is_word(text)) return {std::string(text), ""};
    break;
  }
  return refuse_type(attribute, text);
}

std::string LayerLine::get(const std::string& attribute) const
{
  if (const auto found = attributes.find(attribute); found != attributes.end()) return found->second;
  const auto* known_kind = find_layer_kind(kind);
  const auto* known = known_kind ? find_attribute(*known_kind, attribute) : nullptr;
  return known ? std::string(known->default_text) : std::string();
}

std::int64_t LayerLine::integer(const std::string& attribute) const { return std::stoll(get(attribute)); }

double LayerLine::real(const std::string& attribute) const { return std::stod(get(attribute)); }

std::string to_text(const LayerLine& layer)
{
  const auto* kind = find_layer_kind(layer.kind);
  auto text = layer.kind;
  for (const auto& [name_given, value] : layer.attributes) {
    const auto* attribute = kind ? find_attribute(*kind, name_given) : nullptr;
    if (!attribute || attribute->default_text != value) text += " " + name_given + "=" + value;
  }
  return text;
}

LayerLine parse_layer(std::string_view line)
{
  const auto parts = split(trim(line), ' ');
  LayerLine layer{parts.front()};
  const auto* kind = find_layer_kind(layer.kind);
  if (!kind) refuse_layer(line, "is of no known kind" + advice(layer.kind, layer_kind_names()));
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!parts[i].empty()) parse_attribute(line, *kind, parts[i], layer);
  for (const auto& attribute : kind->attributes)
    if (attribute.required && !layer.has(std::string(attribute.name)))
      refuse_layer(line, fmt::format("needs `{}`: {}", attribute.name, attribute.help));
  return layer;
}

std::vector<std::string> layer_names(std::span<const LayerLine> layers)
{
  std::vector<std::string> names;
  for (const auto& layer : layers)
    names.push_back(layer.has("name") ? layer.get("name") : layer.kind + std::to_string(names.size() + 1));
  return names;
}

LayerInputs layer_inputs(std::span<const LayerLine> layers)
{
  Wiring wiring(layers);
  wiring.read();
  return std::move(wiring.inputs);
}

std::vector<LayerProblem> find_layer_problems(std::span<const LayerLine> layers)
{
  Wiring wiring(layers);
  wiring.read();
  return std::move(wiring.problems);
}

} // namespace dt
