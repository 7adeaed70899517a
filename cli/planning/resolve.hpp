// Resolves a recipe to planned runs and their study: recipe -> specs -> engine build and data -> runs with keys.
#pragma once

#include "cli/planning/recipe_options.hpp"
#include "core/home/home.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/run_key.hpp"
#include "jobs/program/asked_environment.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// The inputs of a run's key beyond its recipe: the engine's build, and the contents of data sets and initial weights. Each is
// hashed only once.
class Identities {
 public:
  explicit Identities(const Home& home);
  const Home& home() const { return home_; }
  // Build of the program that executes the run: dtengine, or dtsim for a simulated run; for the user's own program the id of its
  // content. Throws an environment error if the program does not exist, and a recipe error if program.files cannot be read.
  const std::string& build_of(const RunSpec& run);
  // Content of the data set; "none" if neither data.name nor data.path is given.
  const std::string& data(const DataSpec& data);
  const std::string& simulator() const { return simulator_.path; } // path of dtsim; empty before the first simulated run
  const std::string& engine() const { return engine_.path; } // path of dtengine; empty before the first run that it executes
  const std::string& start(const std::string& file);
  // The Python environment of a user's own program that is part of the run's key: asked on this machine, once for all runs that
  // have the same. Its id is empty with `program.identity: files`, for dtengine, and where it cannot be known.
  const jobs::AskedEnvironment& environment(const RunSpec& run);
  // The id of a simulated run's input (simulation_input).
  const std::string& simulation(const RunSpec& run);

 private:
  const std::string& program(const RunSpec& run);

  struct Program {
    std::string path, build;
  };
  Home home_;
  Program engine_, simulator_;
  std::map<std::pair<std::string, std::string>, std::string> data_ids_; // key: (name, folder)
  std::map<std::string, std::string> start_ids_;
  std::map<std::string, std::string> simulation_ids_;           // key: train.compute_profile
  std::map<std::vector<std::string>, std::string> program_ids_; // key: program.files, command's first word, wrapper, identity
  std::map<std::vector<std::string>, jobs::AskedEnvironment> environments_; // key: environment_inputs
};

// Whether the folder or file of a data set is there and not empty.
bool holds_files(const std::filesystem::path& place);

struct Resolved {
  recipes::PlanKind kind = recipes::PlanKind::single;
  std::string engine;               // path of dtengine; empty if it executes no run
  std::string simulator{};          // path of dtsim; empty if no run is simulated
  std::vector<PlannedRun> runs;     // in order of submission, without duplicates
  StudyRecord study;                // not written yet; its times are 0
  std::size_t duplicates = 0;       // number of points of the sweep that were the same run as an earlier point
  std::vector<std::string> notes{}; // of the plan (recipes::Plan)
  // Runs whose data set has no files, by key, with what to do. Their keys change when the files are there.
  std::map<std::string, std::string> without_data{};
  std::optional<recipes::Price> price{}; // of the machine profile
  std::string unasked{}; // why the Python environment is no part of some run's key; empty: it is, or it is not wanted
};

// Throws if a data set has no files; with `accept` these runs are in without_data instead, for a plan that is only shown.
enum class MissingData { refuse, accept };
Resolved resolve(const Home& home, recipes::Plan plan, MissingData missing = MissingData::refuse);

} // namespace dt::cli
