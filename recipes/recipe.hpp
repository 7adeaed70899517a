// Recipes: reads YAML and returns runs. Other rooms include this header only, and never see YAML.
#pragma once

#include "core/spec/run_spec.hpp"
#include "recipes/reading/types.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

enum class PlanKind { single, sweep, strong, weak, partition, scaling };
std::string_view name_of(PlanKind kind);

struct Resolved;

// The runs of a recipe, in order of submission.
struct Plan {
  std::string name;
  std::string description;
  std::string path; // of the recipe
  std::string text; // of the recipe
  PlanKind kind = PlanKind::single;
  std::vector<RunSpec> runs;                   // at least one
  std::map<std::string, std::string> labels{}; // the recipe's `label` for each series (point_label.hpp); empty: it has none
  std::vector<Diagnostic> warnings;            // allowed, but probably unintended
  std::vector<std::string> notes{};            // sentences for people who look at the plan
  std::optional<Price> price{};                // of the machine profile that is used, if it has one
  std::shared_ptr<const Resolved> resolved{};  // the places of its values

  // Makes a diagnostic about a run. Its place is that of the first of these keys that is given (for a list the place of
  // `element`, counted from 0), else the beginning of the block of keys.front(), else the whole recipe.
  Diagnostic finding(const RunSpec& run, const std::vector<std::string_view>& keys, std::string message,
                     std::optional<std::size_t> element = {}) const;
  // Finds problems that load_plan cannot find, because only the data set determines the number of training samples: batches that
  // are too large, and runs without a step to measure.
  std::vector<Diagnostic> find_length_problems(const RunSpec& run, std::int64_t train_samples) const;
};

// Reads a recipe, combines the layers (schema defaults < profile < extends < recipe < --set < sweep point), expands and checks.
// Throws a RecipeError with every mistake in all files involved, also if a file is missing.
Plan load_plan(const std::filesystem::path& recipe, const LoadOptions& options);

// A run's name for people and selectors: "name/learning_rate=0.1 ranks=2/#3". Contains the values that its sweep and its study
// vary, and the repeat, counted from 1. Parts that do not vary are left out.
std::string run_name(const RunSpec& spec);

// A JSON Schema (draft 7, which editors read) for recipes.
std::string json_schema();

// The reference of all keys in Markdown, generated from the key table.
std::string reference_markdown();

// The shipped machines for simulated runs.
std::vector<Platform> list_platforms();

// The machine profiles as configured.
std::vector<Profile> list_profiles(const LoadOptions& options);

} // namespace dt::recipes
