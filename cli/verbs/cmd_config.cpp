// dtctl config show|paths: the configuration in use, and the files it comes from.
#include "cli/planning/recipe_options.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/paths.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array variables{"DTCTL_HOME", "DTCTL_ENGINE", "DTCTL_JOB_AGENT", "DTCTL_SLURM", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
                               "NO_COLOR",   "FORCE_COLOR",  "CLICOLOR_FORCE",  "CLICOLOR",    "COLUMNS"};

Table environment_table()
{
  Table table{"environment", {{"name", "variable"}, {"value", "value"}}, {}, "none"};
  for (const auto* name : variables) {
    const char* value = std::getenv(name);
    if (value != nullptr) table.rows.push_back({text_cell(name), text_cell(value)});
  }
  table.when_empty = "no environment variable of dtctl is set";
  return table;
}

ExitCode show(Context& context)
{
  const auto profiles = recipes::list_profiles(load_options(context, {}));
  context.out.heading("Machine profiles");
  Table table{"profiles",
              {{"profile", "profile"}, {"key", "key"}, {"value", "value"}, {"file", "from", Align::left, 1}},
              {},
              "none; recipes use their own resources"};
  for (const auto& profile : profiles)
    for (const auto& [key, value] : profile.values)
      table.rows.push_back({text_cell(profile.name, Style::strong), text_cell(key), text_cell(value), text_cell(profile.file)});
  context.out.table(table);
  context.out.heading("Environment");
  context.out.table(environment_table());
  return ExitCode::ok;
}

Cell path_cell(const fs::path& path)
{
  const bool exists = !path.empty() && fs::exists(path);
  return {path.empty() ? Json(nullptr) : Json(path.string()),
          path.empty() ? "none" : path.string() + (exists ? "" : "  (not there)"), exists ? Style::plain : Style::dim};
}

fs::path program_or_nothing(fs::path (*find)())
{
  try {
    return find();
  } catch (const Error&) { // doctor explains what to do
    return {};
  }
}

ExitCode paths(Context& context)
{
  const auto home = context.home();
  const auto project = find_project_config(fs::current_path());
  for (const auto& ignored : project.ignored) context.messages.warn("{}", ignored);
  context.out.field("home", "home", path_cell(home.root()));
  context.out.field("runs", "runs", path_cell(home.runs()));
  context.out.field("studies", "studies", path_cell(home.studies()));
  context.out.field("database", "database", path_cell(home.database()));
  context.out.field("user_config", "user configuration", path_cell(user_config_path()));
  context.out.field("project_config", "project configuration", path_cell(project.file));
  context.out.field("recipes", "shipped recipes", path_cell(recipe_library()));
  context.out.field("report_modules", "report modules", path_cell(report_modules()));
  context.out.field("program", "dtctl", path_cell(own_program()));
  context.out.field("engine", "dtengine", path_cell(program_or_nothing(&engine_program)));
  context.out.field("agent", "dtjob", path_cell(program_or_nothing(&agent_program)));
  return ExitCode::ok;
}

} // namespace

void add_config(Commands& commands)
{
  auto& family = commands.add_family({"config", keep_verbs, "Machine profiles and paths.", "Example:\n  dtctl config paths"});
  commands.add_under(
      family, {"show", family_verbs, "Machine profiles and the environment variables in force.", "Example:\n  dtctl config show"},
      show);
  commands.add_under(
      family, {"paths", family_verbs, "Where state, configuration, recipes and programs are.", "Example:\n  dtctl config paths"},
      paths);
}

} // namespace dt::cli
