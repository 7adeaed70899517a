// The types that other rooms need to read recipes: mistakes, options, profiles, platforms.
#pragma once

#include "core/error.hpp"
#include "core/maths/allreduce_cost.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dt::recipes {

// One mistake in a recipe, with its place.
struct Diagnostic {
  std::string file; // the name that the user gave; "--set" or "--over" for the command line
  int line = 0;     // counted from 1; 0: the whole file
  int column = 0;
  std::string message; // what is wrong, the nearest known key or value, and what is allowed
};

// One line per diagnostic: "recipe.yaml:3:5: unknown key ...".
std::string to_text(const Diagnostic& diagnostic);

// All mistakes found in one pass. what() contains one line for each.
class RecipeError : public Error {
 public:
  explicit RecipeError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// A run that the search of study.tune asks for.
struct TunedRun {
  std::string point;                         // label and size of its point, as sized_label has them
  std::map<std::string, std::string> values; // of the tuned keys
  bool is_search = true;                     // false: its figures are a result of the point
  std::int64_t repeat = 0;                   // counted from 0, of the results and of a setting of the search
};

struct LoadOptions {
  std::vector<std::string> set;         // "train.epochs=3": overrides the recipe, but not its sweep
  std::vector<std::string> over;        // "optimizer.learning_rate=0.1,0.2": each adds an axis to the sweep's matrix
  std::string profile;                  // overrides the recipe's profile; empty: the recipe's, else `default` if it exists
  std::filesystem::path user_config;    // may be empty or missing
  std::filesystem::path project_config; // may be empty or missing; its profiles override the user's
  std::string platform{};               // overrides the recipe's resources.platform; empty: the recipe's
  std::vector<TunedRun> tuned{};        // the runs of the plan, in place of all repeats of all points; empty: those
};

// A shipped machine for simulated runs.
struct Platform {
  std::string name, description;
  std::string file;
  std::string text;                                        // of the file, with the sources of the figures
  std::vector<std::pair<std::string, std::string>> values; // "platform.nodes" -> "1024"
};

// What an hour of a node costs (recipes/reading/price.hpp).
struct Price {
  double node_hour = 0;
  std::string currency = "EUR";
};

// A machine profile as configured, for `config show` and `predict`.
struct Profile {
  std::string name;
  std::string file;
  std::vector<std::pair<std::string, std::string>> values; // "resources.partition" -> "debug"
  std::optional<CostModel> network;                        // its `network:` block, or that of a profile it extends
  std::optional<Price> price{};                            // the same of its `cost:` block
};

} // namespace dt::recipes
