#include "tests/recipes/json_check.hpp"

#include "recipes/reading/document.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <stdexcept>

namespace dt::recipes::test {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

Json json_of(const Node& node)
{
  if (node.kind == Node::Kind::null) return nullptr;
  if (node.kind == Node::Kind::scalar) {
    auto parsed = node.quoted ? Json(Json::value_t::discarded) : Json::parse(node.text, nullptr, false);
    return parsed.is_number() || parsed.is_boolean() ? parsed : Json(node.text);
  }
  Json json = node.kind == Node::Kind::list ? Json::array() : Json::object();
  for (const auto& item : node.items) json.push_back(json_of(item));
  for (const auto& entry : node.entries) json[entry.key] = json_of(entry.value);
  return json;
}

bool has_type(const Json& value, const std::string& type)
{
  if (type == "integer") return value.is_number() && value == std::floor(value.get<double>()); // 2.0 too
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "null") return value.is_null();
  throw std::logic_error("unknown type " + type);
}

bool has_type_of(const Json& value, const Json& types)
{
  if (types.is_string()) return has_type(value, types);
  return std::any_of(types.begin(), types.end(), [&](const Json& type) { return has_type(value, type); });
}

// Members against properties, patternProperties and additionalProperties.
void check_members(const Json& schema, const Json& value, const std::string& where, Lines& lines)
{
  const auto add = [&](const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  const auto patterns = schema.value("patternProperties", Json::object());
  const auto additional = schema.value("additionalProperties", Json(true));
  for (const auto& [name, member] : value.items()) {
    const auto path = where + "/" + name;
    bool known = false;
    if (schema.contains("properties") && schema["properties"].contains(name))
      known = true, add(violations(schema["properties"][name], member, path));
    for (const auto& [pattern, inner] : patterns.items())
      if (std::regex_search(name, std::regex(pattern))) known = true, add(violations(inner, member, path));
    if (!known && additional == false) lines.push_back(path + ": additionalProperties");
    if (!known && additional.is_object()) add(violations(additional, member, path));
  }
}

bool keeps(const std::string& keyword, const Json& rule, const Json& value)
{
  const auto fits = [&](const Json& schema) { return violations(schema, value).empty(); };
  if (keyword == "type") return has_type_of(value, rule);
  if (keyword == "const") return value == rule;
  if (keyword == "enum") return std::find(rule.begin(), rule.end(), value) != rule.end();
  if (keyword == "minimum") return !value.is_number() || value >= rule;
  if (keyword == "maximum") return !value.is_number() || value <= rule;
  if (keyword == "pattern")
    return !value.is_string() || std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
  if (keyword == "minItems") return !value.is_array() || value.size() >= rule;
  if (keyword == "minProperties") return !value.is_object() || value.size() >= rule;
  if (keyword == "uniqueItems") return !value.is_array() || std::set<Json>(value.begin(), value.end()).size() == value.size();
  if (keyword == "anyOf") return std::any_of(rule.begin(), rule.end(), fits);
  if (keyword == "allOf") return std::all_of(rule.begin(), rule.end(), fits);
  if (keyword == "not") return !fits(rule);
  if (keyword == "required")
    return !value.is_object() ||
           std::all_of(rule.begin(), rule.end(), [&](const Json& name) { return value.contains(name.get<std::string>()); });
  for (const auto* elsewhere :
       {"properties", "patternProperties", "additionalProperties", "items", "$schema", "title", "description", "default",
        "x-unit", "markdownEnumDescriptions", "$id", "examples", "errorMessage", "patternErrorMessage"})
    if (keyword == elsewhere) return true;
  throw std::logic_error("unknown keyword " + keyword);
}

} // namespace

Json json_of_yaml(const std::string& text)
{
  Diagnostics diagnostics;
  const auto root = parse_document({std::make_shared<const std::string>("f"), text}, diagnostics);
  diagnostics.throw_if_any();
  return json_of(*root);
}

Lines violations(const Json& schema, const Json& value, const std::string& where)
{
  Lines lines;
  for (const auto& [keyword, rule] : schema.items())
    if (!keeps(keyword, rule, value)) lines.push_back(where + ": " + keyword);
  if (value.is_object()) check_members(schema, value, where, lines);
  if (value.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < value.size(); ++i)
      for (auto& line : violations(schema["items"], value[i], where + "/" + std::to_string(i))) lines.push_back(std::move(line));
  return lines;
}

} // namespace dt::recipes::test
