// Recipes: YAML in, runs out. The room's only public face; nobody outside sees YAML.
#pragma once

#include "core/error.hpp"
#include "core/run_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// One mistake in a recipe, where it stands.
struct Diagnostic {
  std::string file; // as the user named it; "--set" or "--over" for the command line
  int line = 0;     // from 1; 0: the whole file
  int column = 0;
  std::string message; // what is wrong, the nearest known key or value, what is allowed
};

// "recipe.yaml:3:5: unknown key ...": one line a diagnostic.
std::string to_text(const Diagnostic& diagnostic);

// All mistakes found in one pass. what() is their lines.
class RecipeError : public Error {
 public:
  explicit RecipeError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

struct LoadOptions {
  std::vector<std::string> set;         // "train.epochs=3": stronger than the recipe, weaker than its sweep
  std::vector<std::string> over;        // "optimizer.learning_rate=0.1,0.2": one more axis of the sweep's matrix, each
  std::string profile;                  // stronger than the recipe's own; empty: the recipe's, else `default` if there is one
  std::filesystem::path user_config;    // may be empty or missing
  std::filesystem::path project_config; // likewise; its profiles are stronger than the user's
};

enum class PlanKind { single, sweep, strong, weak };
std::string_view name_of(PlanKind kind);

struct Resolved;

// What a recipe asks for, in order of submission.
struct Plan {
  std::string name;
  std::string description;
  std::string path; // of the recipe
  std::string text; // of the recipe
  PlanKind kind = PlanKind::single;
  std::vector<RunSpec> runs; // at least one
  std::vector<Diagnostic> warnings; // what is not wrong, and hardly meant
  std::shared_ptr<const Resolved> resolved{}; // where its values were written

  // Something wrong with a run, at the place where the first of these keys that is given at all was written (of a list its
  // element, counted from 0), else at the beginning of their block, else in the recipe as a whole.
  Diagnostic finding(const RunSpec& run, const std::vector<std::string_view>& keys, std::string message,
                     std::optional<std::size_t> element = {}) const;
  // What load_plan could not find, because only the data set tells how many training samples there are: batches that are too
  // large for them, and runs that have no step to measure.
  std::vector<Diagnostic> find_length_problems(const RunSpec& run, std::int64_t train_samples) const;
};

// Reads, layers (schema defaults < profile < extends < recipe < --set < sweep point), expands and checks.
// RecipeError with every mistake of every file involved; a missing file is one too.
Plan load_plan(const std::filesystem::path& recipe, const LoadOptions& options);

// "name/learning_rate=0.1 ranks=2/#3" of a run, for people and for selectors: what its sweep and its study set it apart by, and
// the repeat counted from 1. Parts that do not vary are left out.
std::string run_name(const RunSpec& spec);

// A JSON Schema (draft 2020-12) of recipes, for editors.
std::string json_schema();

// The reference of all keys, in Markdown, generated from the schema table.
std::string reference_markdown();

// A machine profile as configured, for `config show`.
struct Profile {
  std::string name;
  std::string file;
  std::vector<std::pair<std::string, std::string>> values; // "resources.partition" -> "debug"
};
std::vector<Profile> list_profiles(const LoadOptions& options);

} // namespace dt::recipes
