#include "recipes/reading/layers.hpp"

#include "core/lookup.hpp"
#include "core/spec/layer_schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace dt::recipes {
namespace {

constexpr std::string_view forms = "`relu`, `max_pooling: {kernel: 2, stride: 2}`";

class LayersReader {
 public:
  explicit LayersReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::optional<std::vector<std::string>> read(const Node& node)
  {
    if (!is_list_of_layers(node)) return std::nullopt;
    for (const auto& item : node.items) read_layer(item);
    if (is_good_) check_wiring(node);
    if (!is_good_) return std::nullopt;
    std::vector<std::string> lines;
    for (const auto& layer : layers_) lines.push_back(to_text(layer));
    return lines;
  }

 private:
  void refuse(const Mark& mark, const std::string& what)
  {
    is_good_ = false;
    diagnostics_.add(mark, what);
  }

  bool is_list_of_layers(const Node& node)
  {
    if (node.kind != Node::Kind::list)
      refuse(node.mark, "`model.layers` must be a list of layers, not " + describe(node));
    else if (node.items.empty())
      refuse(node.mark, "`model.layers` contains no layer");
    else if (node.items.size() > most_layers)
      refuse(node.mark, "`model.layers` contains more than " + std::to_string(most_layers) + " layers");
    return is_good_;
  }

  void read_layer(const Node& item)
  {
    if (item.kind == Node::Kind::scalar) return read_kind(item.text, item.mark, Node{});
    if (item.kind == Node::Kind::map && item.entries.size() == 1) {
      const auto& entry = item.entries.front();
      return read_kind(entry.key, entry.mark, entry.value);
    }
    if (item.kind == Node::Kind::map && item.entries.size() > 1)
      return refuse(item.entries[1].mark, "a layer is one kind with its attributes under it, as " + std::string(forms) + "; " +
                                              ticked(item.entries[1].key) + " is beside " + ticked(item.entries[0].key));
    refuse(item.mark, "a layer must be a kind, with attributes or without, as " + std::string(forms) + ", not " + describe(item));
  }

  void read_kind(const std::string& name, const Mark& mark, const Node& attributes)
  {
    const auto* kind = find_layer_kind(name);
    if (!kind) return refuse(mark, unknown_name("layer", name, layer_kind_names()));
    if (attributes.kind != Node::Kind::null && attributes.kind != Node::Kind::map)
      return refuse(attributes.mark, "the attributes of `" + name + "` must be a map, not " + describe(attributes));
    LayerLine layer{name};
    for (const auto& entry : attributes.entries) read_attribute(*kind, entry, layer);
    for (const auto& attribute : kind->attributes) require(attribute, layer, attributes, mark);
    layers_.push_back(std::move(layer));
    marks_.push_back(mark);
  }

  // Reports a missing attribute. A wrong attribute is reported elsewhere and does not count as missing.
  void require(const Attribute& attribute, const LayerLine& layer, const Node& given, const Mark& mark)
  {
    const auto is_it = [&](const Entry& entry) { return entry.key == attribute.name; };
    if (attribute.required && std::none_of(given.entries.begin(), given.entries.end(), is_it))
      refuse(mark, "`" + layer.kind + "` needs `" + std::string(attribute.name) + "`: " + std::string(attribute.help));
  }

  void read_attribute(const LayerKind& kind, const Entry& entry, LayerLine& layer)
  {
    const auto label = "`" + entry.key + "` of `" + layer.kind + "`";
    const auto* attribute = find_attribute(kind, entry.key);
    if (!attribute)
      return refuse(entry.mark,
                    "`" + layer.kind + "` has no attribute " + ticked(entry.key) + advice(entry.key, attribute_names(kind)));
    const auto text = text_of(*attribute, entry.value);
    if (!text) return refuse(entry.value.mark, label + " must be " + allowed_text(*attribute) + ", not " + describe(entry.value));
    auto value = check_value(*attribute, *text);
    if (!value.problem.empty()) return refuse(entry.value.mark, label + " " + value.problem);
    layer.attributes[entry.key] = std::move(value.text);
  }

  // The attribute's value as in a layer line. Returns nothing if the node does not have the attribute's type.
  static std::optional<std::string> text_of(const Attribute& attribute, const Node& node)
  {
    const bool is_word = attribute.type == AttributeType::word || attribute.type == AttributeType::outputs;
    if (attribute.type != AttributeType::words)
      return node.kind == Node::Kind::scalar && (is_word || !node.quoted) ? std::optional(node.text) : std::nullopt;
    if (node.kind != Node::Kind::list) return std::nullopt;
    std::vector<std::string> words;
    for (const auto& item : node.items) {
      if (item.kind != Node::Kind::scalar || item.text.find(',') != item.text.npos) return std::nullopt;
      words.push_back(item.text);
    }
    return join(words, ",");
  }

  void check_wiring(const Node& node)
  {
    for (const auto& [place, message] : find_layer_problems(layers_))
      refuse(marks_.at(place), "layer " + std::to_string(place + 1) + " of " + std::to_string(node.items.size()) + ", " +
                                   ticked(to_text(layers_[place])) + ": " + message);
  }

  Diagnostics& diagnostics_;
  bool is_good_ = true; // no layer was refused
  std::vector<LayerLine> layers_;
  std::vector<Mark> marks_; // places of the layers' kinds
};

} // namespace

std::optional<std::vector<std::string>> read_layers(const Node& node, Diagnostics& diagnostics)
{
  return LayersReader(diagnostics).read(node);
}

} // namespace dt::recipes
