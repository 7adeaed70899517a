// A study: one recipe submitted, and the runs it asked for. <home>/studies/<id>/study.json is the truth about it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt {

struct StudyRecord {
  std::string id;   // hash of name and run keys: the same recipe submitted again is the same study
  std::string name; // the recipe's name
  std::string description;
  std::string kind; // "single", "sweep", "strong" or "weak"
  std::string recipe_path;
  std::string recipe_text; // as it was, for `dtctl show`
  double created_unix_s = 0;
  double submitted_unix_s = 0; // last time it was submitted: decides what `last` means
  std::vector<std::string> run_keys; // in order of submission
  std::vector<std::string> run_names; // "name/label/#repeat", a run
  std::vector<std::string> control_keys; // of run_keys, the A/A controls: no part of the study's points
  std::map<std::string, std::string> refusals; // why runs were refused when the study was last submitted, by key
};

std::string study_id(const std::string& name, const std::vector<std::string>& run_keys);
std::string to_json(const StudyRecord& study);
// Nothing when the file is missing or not ours.
std::optional<StudyRecord> read_study(const std::filesystem::path& study_folder);

} // namespace dt
