// A study: one submitted recipe and the runs it requested. <home>/studies/<id>/study.json is the authoritative record.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt {

// The rule by which `dtctl sweep --until-decided` repeats a study; store/analysis/statistics/race.hpp has its meaning.
struct StudyRace {
  std::string metric; // study.until.metric; empty: the study has a fixed number of repeats
  double margin = 0;
  std::int64_t first = 0, most = 0;
};

// The rule by which `dtctl sweep` tunes the points of a study (study.tune); store/analysis/statistics/tuning.hpp has its meaning.
struct StudyTune {
  std::string metric;                      // empty: nothing is tuned
  std::map<std::string, std::string> keys; // key -> range
  std::int64_t runs = 0, seeds = 0;        // of a point's search at most; of a setting that is repeated
  std::int64_t results = 0;                // runs of each point with the tuned values
};

struct StudyRecord {
  std::string id;   // hash of the name and the run keys: submitting the same recipe again gives the same study
  std::string name; // the recipe's name
  std::string description;
  std::string kind; // "single", "sweep", "strong", "weak", "partition" or "scaling"
  std::string recipe_path;
  std::string recipe_text; // unchanged text of the recipe, for `dtctl show`
  double created_unix_s = 0;
  double submitted_unix_s = 0;               // last submission; determines which study is `last`
  std::vector<std::string> run_keys;         // in order of submission
  std::vector<std::string> run_names;        // one per run: "name/label/#repeat"
  std::vector<std::string> control_keys;     // those among run_keys that are no points of the study (RunSpec::control)
  bool keep_going = false;                   // its last submission asked to start all runs, even if the first ones fail
  std::map<std::string, std::string> labels; // the recipe's own label, by series (core/spec/point_label.hpp); often empty
  StudyRace race;
  StudyTune tune;
  std::map<std::string, std::string> refusals; // by run key: why the run was refused at the last submission
};

std::string study_id(const std::string& name, const std::vector<std::string>& run_keys);
std::string to_json(const StudyRecord& study);
// Returns nothing if the file is missing, damaged or of another format.
std::optional<StudyRecord> read_study(const std::filesystem::path& study_folder);

} // namespace dt
