#include "core/record/study_record.hpp"

#include "core/hash.hpp"
#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"

namespace dt {

std::string study_id(const std::string& name, const std::vector<std::string>& run_keys)
{
  Hasher hasher;
  hasher.update(name + '\0');
  for (const auto& key : run_keys) hasher.update(key);
  return hasher.hex();
}

std::string to_json(const StudyRecord& study) { return record::to_json(study, study_fields()); }

std::optional<StudyRecord> read_study(const std::filesystem::path& study_folder)
{
  return record::read(study_folder / "study.json", [](std::string_view text) { return record::parse(text, study_fields()); });
}

} // namespace dt
