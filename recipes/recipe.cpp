#include "recipes/recipe.hpp"

#include "core/files/file.hpp"
#include "core/spec/point_label.hpp"
#include "core/spec/tuned_key.hpp"
#include "core/text.hpp"
#include "recipes/expansion/expand.hpp"
#include "recipes/reading/platforms.hpp"
#include "recipes/reading/profiles.hpp"
#include "recipes/reading/recipe_file.hpp"

#include <utility>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

// The settings of the profile from the command line, else from the recipe, else `default` if it exists; and its price.
Settings profile_layer(const LoadOptions& options, const std::optional<MarkedText>& of_recipe, std::optional<Price>& price,
                       Diagnostics& diagnostics)
{
  const ProfileBook profiles(options, diagnostics);
  price = profiles.price_of(!options.profile.empty() ? options.profile : of_recipe ? of_recipe->text : "default");
  if (!options.profile.empty())
    return profiles.find(options.profile, {std::make_shared<const std::string>("--profile"), 0, 0}, diagnostics);
  if (of_recipe) return profiles.find(of_recipe->text, of_recipe->mark, diagnostics);
  return profiles.contains("default") ? profiles.find("default", {}, diagnostics) : Settings();
}

Settings platform_option(const std::string& name, Diagnostics& diagnostics)
{
  Settings settings;
  Node value;
  value.kind = Node::Kind::scalar;
  value.mark = {std::make_shared<const std::string>("--platform"), 0, 0};
  value.text = name;
  if (auto assignment = read_assignment("resources.platform", value.mark, value, fs::current_path(), diagnostics))
    settings.set(std::move(*assignment));
  return settings;
}

std::shared_ptr<const Resolved> resolve(const RecipeFile& recipe, const fs::path& path, const LoadOptions& options,
                                        Diagnostics& diagnostics)
{
  auto resolved = std::make_shared<Resolved>();
  resolved->file = recipe.file;
  resolved->label = recipe.label;
  resolved->tuned = options.tuned;
  resolved->settings = resolved->profile = profile_layer(options, recipe.profile, resolved->price, diagnostics);
  resolved->settings.overlay(recipe.settings);
  resolved->settings.overlay(read_set_options(options.set, diagnostics));
  if (!options.platform.empty()) resolved->settings.overlay(platform_option(options.platform, diagnostics));
  resolved->sweep = read_sweep(recipe, options.over, resolved->settings, diagnostics);
  resolved->base.name = path == standard_input ? "stdin" : printable(path.stem().string());
  resolved->settings.apply(resolved->base);
  return resolved;
}

PlanKind kind_of(const Resolved& resolved)
{
  const auto& study = resolved.base.study;
  if (study.mode == StudyMode::strong) return PlanKind::strong;
  if (study.mode == StudyMode::weak) return PlanKind::weak;
  if (study.mode == StudyMode::partition) return PlanKind::partition;
  if (study.mode == StudyMode::scaling) return PlanKind::scaling;
  return resolved.sweep.is_given || study.repeats > 1 ? PlanKind::sweep : PlanKind::single;
}

} // namespace

std::string_view name_of(PlanKind kind)
{
  switch (kind) {
  case PlanKind::single:
    return "single";
  case PlanKind::sweep:
    return "sweep";
  case PlanKind::strong:
    return "strong";
  case PlanKind::weak:
    return "weak";
  case PlanKind::partition:
    return "partition";
  case PlanKind::scaling:
    return "scaling";
  }
  return "single";
}

Plan load_plan(const fs::path& recipe_path, const LoadOptions& options)
{
  Diagnostics diagnostics, warnings;
  auto recipe = read_recipe(recipe_path, diagnostics);
  if (!recipe) diagnostics.throw_if_any();
  auto resolved = resolve(*recipe, recipe_path, options, diagnostics);
  auto expansion = recipe->complete ? expand(*resolved, diagnostics, warnings) : Expansion();
  auto notes = notes_on(*resolved, expansion.runs);
  diagnostics.throw_if_any();

  Plan plan;
  plan.name = resolved->base.name;
  plan.description = resolved->base.description;
  plan.path = recipe_path == standard_input ? standard_input_name : recipe_path.string();
  plan.text = std::move(recipe->text);
  plan.kind = kind_of(*resolved);
  plan.runs = std::move(expansion.runs);
  plan.labels = std::move(expansion.labels);
  plan.price = resolved->price;
  plan.resolved = std::move(resolved);
  plan.warnings = warnings.sorted();
  plan.notes = std::move(notes);
  return plan;
}

std::string run_name(const RunSpec& spec)
{
  const auto label = sized_label(spec);
  auto name = spec.name + (label.empty() ? "" : "/" + label);
  if (tried_setting(spec.label)) return name + "/#" + std::to_string(spec.repeat - first_search_repeat + 1);
  const bool repeats_a_point = spec.repeat >= spec.study.repeats; // an A/A control, not a run that varies a figure
  if (spec.control && repeats_a_point) return name + "/control #" + std::to_string(spec.repeat - spec.study.repeats + 1);
  if (spec.study.repeats > 1) name += "/#" + std::to_string(spec.repeat + 1);
  return name;
}

std::vector<Platform> list_platforms()
{
  Diagnostics diagnostics;
  PlatformBook book;
  std::vector<Platform> platforms;
  for (const auto& name : shipped_platforms()) {
    const auto* file = book.find(name, {}, diagnostics);
    if (file == nullptr) continue;
    const auto path = platform_path(name);
    Platform platform{name, file->description, path.string(), read_file(path), {}};
    for (const auto& [key, assignment] : file->settings.given()) platform.values.emplace_back(key->path, assignment.text);
    platforms.push_back(std::move(platform));
  }
  diagnostics.throw_if_any();
  return platforms;
}

std::vector<Profile> list_profiles(const LoadOptions& options)
{
  Diagnostics diagnostics;
  const ProfileBook profiles(options, diagnostics);
  diagnostics.throw_if_any();
  return profiles.list();
}

} // namespace dt::recipes
