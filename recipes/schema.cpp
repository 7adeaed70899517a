// Generates the JSON Schema of recipes, with which editors complete and check. It is as strict as possible for one file; the
// recipe reader checks everything that involves several files or computations.
#include "recipes/recipe.hpp"

#include "core/error.hpp"
#include "core/program/program_words.hpp"
#include "core/spec/layer_schema.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "recipes/reading/values.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <nlohmann/json.hpp>

namespace dt::recipes {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(double value)
{
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

Json range_json(const Key& key, const char* type)
{
  return Json{{"type", type}, {"minimum", number_json(key.min)}, {"maximum", number_json(key.max)}};
}

// A text may be written without quotes, even if YAML reads it as a number or a boolean.
Json text_json() { return Json{{"type", Json::array({"string", "number", "boolean"})}}; }

Json choice_json(const Key& key)
{
  Json names = Json::array(), help = Json::array();
  for (const auto& name : key.choices) names.push_back(name.name), help.push_back(name.help);
  return Json{{"enum", names}, {"markdownEnumDescriptions", help}};
}

// A text of a number and its unit. `needed` is what editors say in place of "does not match the pattern".
Json quantity_json(const char* pattern, const char* needed)
{
  return Json{{"type", "string"}, {"pattern", pattern}, {"errorMessage", needed}, {"patternErrorMessage", needed}};
}

Json duration_json(const Key& key)
{
  const auto* needed = "A duration needs its unit: 90s, 30m, 1h30m.";
  const auto text =
      quantity_json("^([0-9]+[wdhms])+$|^[0-9]+:[0-9]{1,2}(:[0-9]{1,2})?$|^[0-9]+-[0-9]+(:[0-9]{1,2}){0,2}$", needed);
  if (key.min > 0) return text;
  return Json{{"anyOf", Json::array({Json{{"const", 0}, {"errorMessage", needed}}, text})}}; // any other number needs a unit
}

Json object_json(Json properties)
{
  return Json{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

// A block may be empty: its keys may be commented out.
Json block_json(Json properties, const Json& exclusions)
{
  auto json = object_json(std::move(properties));
  json["type"] = Json::array({"object", "null"});
  if (!exclusions.empty()) json["allOf"] = exclusions;
  return json;
}

Json attribute_json(const Attribute& attribute)
{
  const Json whole{{"type", "integer"}, {"minimum", number_json(attribute.min)}, {"maximum", number_json(attribute.max)}};
  switch (attribute.type) {
  case AttributeType::integer:
    return whole;
  case AttributeType::real:
    return Json{{"type", "number"}, {"minimum", number_json(attribute.min)}, {"maximum", number_json(attribute.max)}};
  case AttributeType::boolean:
    return Json{{"type", "boolean"}};
  case AttributeType::word:
    return text_json();
  case AttributeType::words:
    return Json{{"type", "array"}, {"items", text_json()}, {"minItems", number_json(attribute.min)}};
  case AttributeType::outputs:
    return Json{{"anyOf", Json::array({whole, Json{{"const", "classes"}}})}};
  }
  return Json::object();
}

// Describes `convolution: {channels: 32, kernel: 3}`.
Json layer_json(const LayerKind& kind)
{
  Json attributes = Json::object(), required = Json::array();
  for (const auto& attribute : kind.attributes) {
    auto json = attribute_json(attribute);
    json["description"] = attribute.help;
    if (attribute.required) required.push_back(attribute.name);
    attributes[std::string(attribute.name)] = std::move(json);
  }
  auto of_kind = block_json(std::move(attributes), Json::array());
  of_kind["description"] = kind.help;
  if (!required.empty()) of_kind["required"] = required, of_kind["type"] = "object";
  auto layer = object_json(Json{{std::string(kind.name), std::move(of_kind)}});
  layer["required"] = Json::array({kind.name});
  return layer;
}

Json layers_json()
{
  Json bare = Json::array(), forms = Json::array();
  for (const auto& kind : layer_kinds()) {
    const auto is_required = [](const Attribute& attribute) { return attribute.required; };
    if (std::none_of(kind.attributes.begin(), kind.attributes.end(), is_required)) bare.push_back(kind.name);
    forms.push_back(layer_json(kind));
  }
  forms.push_back(Json{{"enum", bare}});
  return Json{{"type", "array"}, {"minItems", 1}, {"items", Json{{"anyOf", forms}}}};
}

// A number, or a text of a number and its unit: "3%", "2 node-hours".
Json number_with_unit_json(const Key& key)
{
  const auto unit = key.unit == "share" ? std::string("%") : std::string(key.unit);
  return Json{{"anyOf", Json::array({range_json(key, "number"),
                                     Json{{"type", "string"}, {"pattern", "^[+]?[0-9.]+([eE][-+]?[0-9]+)? *" + unit + "$"}}})}};
}

// The entries of program.metrics are the figures that dtctl knows.
Json metrics_json()
{
  Json properties = Json::object();
  for (const auto& name : program_metric_names()) {
    properties[std::string(name.name)] = text_json();
    properties[std::string(name.name)]["description"] = name.help;
  }
  return object_json(std::move(properties));
}

Json map_json(const Key& key)
{
  if (key.path == "program.metrics") return metrics_json();
  if (key.path != "program.parameters") return Json{{"type", "object"}, {"additionalProperties", text_json()}};
  auto json = object_json(Json::object());
  json["patternProperties"] = Json{{"^[A-Za-z0-9_]+$", text_json()}};
  return json;
}

// The schema of a key's value.
Json value_json(const Key& key)
{
  if (key.path == "model.layers") return layers_json();
  switch (key.type) {
  case KeyType::integer:
    return range_json(key, "integer");
  case KeyType::real:
    return takes_unit(key) ? number_with_unit_json(key) : range_json(key, "number");
  case KeyType::boolean:
    return Json{{"type", "boolean"}};
  case KeyType::text:
    return text_json();
  case KeyType::choice:
    return choice_json(key);
  case KeyType::duration:
    return duration_json(key);
  case KeyType::rate:
    return quantity_json("^[0-9.]+([eE][-+]?[0-9]+)? *([kMG]?bit/s|[kMG]?B/s|[MG]iB/s)$",
                         "A rate needs its unit: 10 Gbit/s, 1.25 GB/s.");
  case KeyType::moment:
    return quantity_json("^[0-9.]+([eE][-+]?[0-9]+)? *(ns|us|µs|ms|s)$", "A time needs its unit: 50us, 1.5ms.");
  case KeyType::integer_list:
    return Json{{"type", "array"}, {"items", range_json(key, "integer")}, {"uniqueItems", true}};
  case KeyType::text_list:
    return Json{{"type", "array"}, {"items", text_json()}};
  case KeyType::text_map:
    return map_json(key);
  case KeyType::structure:
    break;
  }
  return Json::object();
}

// As a recipe writes it, so that an editor may insert it.
Json default_json(const Key& key)
{
  if (key.type == KeyType::duration || key.type == KeyType::moment) return default_text(key);
  return std::visit([](const auto& v) -> Json { return v; }, default_of(key));
}

void add_example(Json& json, const Key& key)
{
  if (key.example.empty()) return;
  auto example = Json::parse(key.example, nullptr, false);
  json["examples"] = Json::array({example.is_discarded() ? Json(key.example) : std::move(example)});
}

Json key_json(const Key& key)
{
  auto json = value_json(key);
  json["description"] = std::string(key.help) + (key.unit.empty() ? "" : " [" + std::string(key.unit) + "]");
  if (!key.unit.empty()) json["x-unit"] = key.unit;
  if (has_default(key)) json["default"] = default_json(key);
  add_example(json, key);
  return json;
}

// An object whose keys are full paths, as in sweep.matrix. `convert` changes the schema of each key's value.
template<class Convert> Json paths_json(Convert convert)
{
  Json properties = Json::object(), entries = Json::object(); // entries: of maps, such as resources.env.NAME
  for (const auto& key : spec_keys()) {
    if ((!key.identity && !names_content(key)) || key.path == "model.layers") continue;
    properties[std::string(key.path)] = convert(value_json(key));
    if (key.type == KeyType::text_map)
      entries["^" + join(split(key.path, '.'), "\\.") + "\\.[A-Za-z0-9_]+$"] = convert(text_json());
  }
  auto json = object_json(std::move(properties));
  json["patternProperties"] = std::move(entries);
  return json;
}

Json axes_json()
{
  return paths_json([](Json value) {
    const auto type = value.value("type", Json());
    if (type == "number" || type == "integer") // or a range of numbers (expansion/sweep.cpp)
      value = Json{{"anyOf", Json::array({std::move(value), Json{{"type", "string"}, {"pattern", "\\.\\."}}})}};
    return Json{{"type", "array"}, {"minItems", 1}, {"items", std::move(value)}};
  });
}

Json condition_json()
{
  auto any_of = Json{{"type", "array"}, {"minItems", 1}, {"items", text_json()}};
  auto values = Json{{"anyOf", Json::array({text_json(), std::move(any_of)})}};
  auto equal = Json{{"type", "object"}, {"additionalProperties", std::move(values)}, {"minProperties", 1}};
  auto comparisons =
      Json{{"type", "string"},
           {"pattern", "^\\s*[a-z0-9_.]+(=|==|!=|<|<=|>|>=)[^\\s]+(\\s+[a-z0-9_.]+(=|==|!=|<|<=|>|>=)[^\\s]+)*\\s*$"}};
  return Json{{"anyOf", Json::array({std::move(equal), std::move(comparisons)})}};
}

Json structure_json(const Key& key)
{
  Json json{{"type", "string"}};
  if (key.path == "version") json = Json{{"const", 1}};
  if (key.path == "sweep.matrix" || key.path == "sweep.zip") json = axes_json();
  if (key.path == "sweep.include") json = Json{{"type", "array"}, {"items", paths_json([](Json value) { return value; })}};
  if (key.path == "sweep.exclude") json = Json{{"type", "array"}, {"items", condition_json()}};
  json["description"] = key.help;
  add_example(json, key);
  return json;
}

// "required" alone would hold for an empty block, too, which is no object.
Json not_both(const char* one, const char* other)
{
  return Json{{"not", Json{{"type", "object"}, {"required", Json::array({one, other})}}}};
}

// What an editor shows for a block.
struct BlockHelp {
  std::string_view name, help;
};
constexpr std::array block_helps{
    BlockHelp{"model", "The network to train."},
    BlockHelp{"data", "The data set, and how it is read."},
    BlockHelp{"program", "A training program of your own, in place of dtengine."},
    BlockHelp{"train", "How long to train, with which batch, and what is measured."},
    BlockHelp{"optimizer", "The update rule and the learning rate over time."},
    BlockHelp{"sync", "How the ranks keep in step: strategy, allreduce, messages."},
    BlockHelp{"resources", "What each job gets: nodes, ranks, threads, time, scheduler."},
    BlockHelp{"platform", "The machine on which runs are simulated, if resources.platform is `custom`."},
    BlockHelp{"study", "The sizes of a scaling study, and how often each point is repeated."},
    BlockHelp{"sweep", "The values that vary from run to run."},
};

std::string_view help_of(std::string_view block)
{
  const auto found = std::ranges::find(block_helps, block, &BlockHelp::name);
  if (found == block_helps.end()) throw Error(ErrorKind::internal, "the block " + std::string(block) + " has no help");
  return found->help;
}

Json exclusions_of(std::string_view block)
{
  if (block == "train") return Json::array({not_both("batch_per_rank", "global_batch"), not_both("epochs", "steps")});
  if (block == "study") return Json::array({not_both("ranks", "nodes")});
  return Json::array();
}

} // namespace

std::string json_schema()
{
  Json root = Json::object();
  std::vector<std::pair<std::string, Json>> blocks;
  std::map<std::pair<std::string, std::string>, Json> inner_blocks; // ("study", "until")
  for (const auto& key : spec_keys()) {
    auto json = key.field == nullptr ? structure_json(key) : key_json(key);
    const auto names = split(key.path, '.');
    if (names.size() == 1) {
      root[names[0]] = std::move(json);
      continue;
    }
    if (blocks.empty() || blocks.back().first != names[0]) blocks.emplace_back(names[0], Json::object());
    auto& properties = names.size() == 2 ? blocks.back().second : inner_blocks[{names[0], names[1]}];
    properties[names.back()] = std::move(json);
  }
  for (auto& [name, properties] : blocks)
    for (auto& [path, inner] : inner_blocks)
      if (path.first == name) properties[path.second] = block_json(std::move(inner), Json::array());
  for (auto& [name, properties] : blocks) {
    root[name] = block_json(std::move(properties), exclusions_of(name));
    root[name]["description"] = help_of(name);
  }
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"$id", "urn:dtctl:recipe:1"},
              {"title", "dtctl recipe, version 1"}};
  schema.update(object_json(std::move(root)));
  schema["patternProperties"] = Json{{"^x-", Json{{"description", "ignored: a place for YAML anchors"}}}};
  schema["required"] = Json::array({"version"});
  return schema.dump(2) + "\n";
}

} // namespace dt::recipes
