#include "core/record/load_record.hpp"

#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"

namespace dt {

using record::Json;

std::filesystem::path load_path(const AttemptFolder& attempt) { return attempt.path() / "load.json"; }

std::string to_json(const LoadRecord& load)
{
  Json nodes = Json::array();
  for (const auto& node : load.nodes) nodes.push_back(record::json_of(node, node_load_fields()));
  return record::dump(Json{{"schema", record::schema}, {"unix_s", load.unix_s}, {"nodes", nodes}});
}

std::optional<LoadRecord> read_load(const AttemptFolder& attempt)
{
  return record::read_with<LoadRecord>(load_path(attempt), [](const Json& json) {
    LoadRecord load{.unix_s = json.at("unix_s"), .nodes = {}};
    for (const auto& node : json.at("nodes")) load.nodes.push_back(record::record_of(node, node_load_fields()));
    return load;
  });
}

} // namespace dt
