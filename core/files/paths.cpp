#include "core/files/paths.hpp"

#include "core/error.hpp"
#include "core/files/trust.hpp"
#include "core/text.hpp"

#include <cstdlib>
#include <optional>

#include <unistd.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

// Ignores relative values, as the XDG specification requires.
fs::path from_environment_variable(const char* name)
{
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
}

fs::path user_home()
{
  auto home = from_environment_variable("HOME");
  if (home.empty()) throw Error(ErrorKind::environment, "HOME is not set; set it, or name a folder in DTCTL_HOME");
  return home;
}

// Whether the path exists. A path that may not be examined counts as missing.
bool is_visible(const fs::path& path)
{
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Whether the search for a project's configuration ends at this folder: folders above it do not belong to the project.
bool is_last(const fs::path& folder)
{
  std::error_code ignored;
  return folder == folder.parent_path() || is_visible(folder / ".git") ||
         fs::equivalent(folder, from_environment_variable("HOME"), ignored);
}

} // namespace

fs::path user_data_folder()
{
  const auto data = from_environment_variable("XDG_DATA_HOME");
  return data.empty() ? user_home() / ".local" / "share" : data;
}

fs::path user_config_path()
{
  const auto config = from_environment_variable("XDG_CONFIG_HOME");
  return (config.empty() ? user_home() / ".config" : config) / "dtctl" / "config.yaml";
}

ProjectConfig find_project_config(const fs::path& start)
{
  ProjectConfig found;
  for (auto folder = fs::absolute(start);; folder = folder.parent_path()) {
    const auto file = folder / "dtctl.yaml";
    const auto objection = objection_to_file(file);
    if (objection && objection->empty()) {
      found.file = file;
      return found;
    }
    if (objection) found.ignored.push_back(printable(file.string()) + " is ignored: " + *objection);
    if (is_last(folder)) return found;
  }
}

fs::path find_program(const std::string& word, std::string_view path)
{
  const auto is_program = [](const fs::path& file) {
    std::error_code none;
    return fs::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return is_program(word) ? fs::path(word) : fs::path();
  for (const auto& folder : split(path, ':'))
    if (auto file = fs::path(folder.empty() ? "." : folder) / word; is_program(file)) return file;
  return {};
}

fs::path find_installed(const std::string& word)
{
  const char* path = std::getenv("PATH");
  return find_program(word, path == nullptr ? "" : path);
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

namespace {

// A program that comes with the running one: named by an environment variable, else in the same folder.
fs::path program_beside(const char* variable, const char* name, const std::string& what)
{
  const char* named = std::getenv(variable);
  const auto program = named != nullptr && named[0] != '\0' ? fs::absolute(named) : own_program().parent_path() / name;
  if (!is_visible(program))
    throw Error(ErrorKind::environment,
                what + " is not at " + program.string() + "; build or install " + name + ", or name it in " + variable);
  return program;
}

} // namespace

fs::path engine_program() { return program_beside("DTCTL_ENGINE", "dtengine", "the training engine"); }

fs::path simulator_program() { return program_beside("DTCTL_SIMULATOR", "dtsim", "the simulator"); }

fs::path agent_program() { return program_beside("DTCTL_JOB_AGENT", "dtjob", "the program that runs jobs"); }

namespace {

// The folder or file as it is installed, below <prefix>/share/dtctl, else as it lies in the source tree.
fs::path shipped(const fs::path& installed_name, const fs::path& in_source)
{
  const auto installed = own_program().parent_path().parent_path() / "share" / "dtctl" / installed_name;
  if (is_visible(installed)) return installed;
  for (auto folder = own_program().parent_path(); folder != folder.parent_path(); folder = folder.parent_path())
    if (is_visible(folder / in_source)) return folder / in_source;
  return {};
}

} // namespace

fs::path shipped_library(const std::string& file)
{
  const auto folder = own_program().parent_path();
  for (const auto& place : {fs::path("..") / "lib", fs::path(DTCTL_LIBRARIES_FROM_PROGRAMS)})
    if (is_visible(folder / place / file)) return (folder / place / file).lexically_normal();
  return {};
}

fs::path recipe_library() { return shipped("recipes", fs::path("recipes") / "library"); }

fs::path slurm_module_sources()
{
  const auto folder = fs::path("jobs") / "slurm" / "access";
  const auto found = shipped(fs::path("slurm") / folder, folder);
  return found.empty() ? found : found.parent_path().parent_path().parent_path();
}

fs::path report_modules() { return shipped("program", fs::path("share") / "dtctl" / "program"); }

fs::path recipe_schema_file()
{
  const auto file = fs::path("share") / "dtctl" / "recipe.schema.json";
  return shipped(file.filename(), file);
}

} // namespace dt
