// From a recipe to runs with keys: recipe -> specs -> engine build and data -> planned runs and their study.
#pragma once

#include "cli/recipe_options.hpp"
#include "core/paths.hpp"
#include "core/run_key.hpp"
#include "core/study_record.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace dt::cli {

// The engine's build and the contents of data sets and starts: what a run's key knows beyond its recipe. Each is hashed once.
class Identities {
public:
  explicit Identities(const Home& home);
  const Home& home() const { return home_; }
  const std::string& engine() const { return engine_; } // path of dtengine
  const std::string& engine_build() const { return engine_build_; }
  const std::string& data(const DataSpec& data);
  const std::string& start(const std::string& file);

private:
  Home home_;
  std::string engine_, engine_build_;
  std::map<std::pair<std::string, std::string>, std::string> data_ids_; // (name, folder)
  std::map<std::string, std::string> start_ids_;
};

struct Resolved {
  recipes::PlanKind kind = recipes::PlanKind::single;
  std::string engine;           // path of dtengine
  std::vector<PlannedRun> runs; // in order of submission, each once
  StudyRecord study;            // not yet written; its times are zero
  std::size_t duplicates = 0;   // points of the sweep that were the same run as an earlier one
};

// The file that train.start_from names: as it stands, or of the run in that folder, or of the run of that key, its checkpoint
// of most steps. A recipe error when that run has left none.
std::string start_file(const Home& home, const std::string& named);

Resolved resolve(const Home& home, recipes::Plan plan);

} // namespace dt::cli
