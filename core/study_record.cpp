#include "core/study_record.hpp"

#include "core/file.hpp"
#include "core/hash.hpp"

#include <nlohmann/json.hpp>

namespace dt {

using Json = nlohmann::ordered_json;

std::string study_id(const std::string& name, const std::vector<std::string>& run_keys)
{
  Hasher hasher;
  hasher.update(name + '\0');
  for (const auto& key : run_keys) hasher.update(key);
  return hasher.hex();
}

std::string to_json(const StudyRecord& s)
{
  const Json json{{"schema", 1}, {"id", s.id}, {"name", s.name}, {"description", s.description}, {"kind", s.kind},
                  {"recipe_path", s.recipe_path}, {"recipe_text", s.recipe_text}, {"created_unix_s", s.created_unix_s},
                  {"submitted_unix_s", s.submitted_unix_s}, {"run_keys", s.run_keys}, {"run_names", s.run_names},
                  {"control_keys", s.control_keys}, {"refusals", s.refusals}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<StudyRecord> read_study(const std::filesystem::path& study_folder)
{
  const auto text = read_file_if_exists(study_folder / "study.json");
  if (!text) return std::nullopt;
  const auto j = Json::parse(*text, nullptr, false);
  if (!j.is_object() || !j.contains("schema") || j["schema"] != 1) return std::nullopt;
  try {
    return StudyRecord{j.at("id"), j.at("name"), j.at("description"), j.at("kind"), j.at("recipe_path"), j.at("recipe_text"),
                       j.at("created_unix_s"), j.at("submitted_unix_s"), j.at("run_keys"), j.at("run_names"),
                       j.value("control_keys", std::vector<std::string>()),
                       j.value("refusals", std::map<std::string, std::string>())};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

} // namespace dt
