// The formats json and jsonl.
#include "cli/export/exports.hpp"
#include "cli/output/output.hpp"
#include "cli/output/store_tables.hpp"

namespace dt::cli {

std::string json_document(const store::Table& rows, const std::vector<std::pair<std::string, store::Table>>& beside)
{
  Json value{{"schema", json_schema_version}, {"verb", "export"}, {"exit_code", 0}, {"runs", to_json(table_of("runs", rows))}};
  for (const auto& [name, table] : beside) value[name] = to_json(table_of(name, table));
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_lines(const store::Table& rows)
{
  std::string lines;
  for (const auto& row : to_json(table_of("runs", rows)))
    lines += row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; // dump writes a line feed in a text as \n
  return lines;
}

} // namespace dt::cli
