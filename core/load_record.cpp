#include "core/load_record.hpp"

#include "core/file.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace dt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

struct NumberField {
  const char* name;
  double NodeLoad::*member;
};
constexpr NumberField numbers[]{
    {"seconds", &NodeLoad::seconds},           {"load_begin", &NodeLoad::load_begin},   {"load_end", &NodeLoad::load_end},
    {"others_share", &NodeLoad::others_share}, {"steal_share", &NodeLoad::steal_share}, {"elsewhere_share", &NodeLoad::elsewhere_share},
};

Json json_of(const NodeLoad& node)
{
  Json json{{"host", node.host}, {"cores", node.cores}, {"own_cores", node.own_cores}};
  for (const auto& [name, member] : numbers) json[name] = std::isfinite(node.*member) ? Json(node.*member) : Json(nullptr);
  return json;
}

NodeLoad node_of(const Json& json)
{
  NodeLoad node{.host = json.at("host"), .cores = json.at("cores"), .own_cores = json.at("own_cores")};
  for (const auto& [name, member] : numbers)
    if (const auto& value = json.at(name); !value.is_null()) node.*member = value;
  return node;
}

LoadRecord load_of(const Json& json)
{
  LoadRecord load;
  load.unix_s = json.at("unix_s");
  for (const auto& node : json.at("nodes")) load.nodes.push_back(node_of(node));
  return load;
}

} // namespace

std::filesystem::path load_path(const AttemptFolder& attempt) { return attempt.path() / "load.json"; }

std::string to_json(const LoadRecord& load)
{
  Json nodes = Json::array();
  for (const auto& node : load.nodes) nodes.push_back(json_of(node));
  return Json{{"schema", schema}, {"unix_s", load.unix_s}, {"nodes", nodes}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<LoadRecord> read_load(const AttemptFolder& attempt)
{
  const auto text = read_file_if_exists(load_path(attempt));
  if (!text) return std::nullopt;
  const auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    return json.at("schema") == schema ? std::optional(load_of(json)) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

} // namespace dt
