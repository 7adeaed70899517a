#include "core/record/load_record.hpp"

#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"
#include "core/record/parse.hpp"

namespace dt {

using record::Json;

std::filesystem::path load_path(const AttemptFolder& attempt) { return attempt.path_of(AttemptFile::load); }

std::string to_json(const LoadRecord& load)
{
  Json nodes = Json::array();
  for (const auto& node : load.nodes) nodes.push_back(record::json_of(node, node_load_fields()));
  return record::dump(Json{{"schema", record::schema}, {"unix_s", load.unix_s}, {"nodes", nodes}});
}

std::optional<LoadRecord> read_load(const AttemptFolder& attempt) { return record::read(load_path(attempt), record::parse_load); }

std::optional<LoadRecord> record::parse_load(std::string_view text)
{
  return parse_with<LoadRecord>(text, [](const Json& json) {
    LoadRecord load{.unix_s = json.at("unix_s"), .nodes = {}};
    for (const auto& node : json.at("nodes")) load.nodes.push_back(record::record_of(node, node_load_fields()));
    return load;
  });
}

} // namespace dt
