#include "core/paths.hpp"

#include "core/error.hpp"

#include <cstdlib>

namespace dt {
namespace {

namespace fs = std::filesystem;

// Relative values are ignored, as the XDG specification asks.
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

// What may not even be looked at is not there for us.
bool is_there(const fs::path& path)
{
  std::error_code ignored;
  return fs::exists(path, ignored);
}

} // namespace

Home Home::from_environment()
{
  if (const char* value = std::getenv("DTCTL_HOME"); value != nullptr && value[0] != '\0') return Home(fs::absolute(value));
  const auto data = from_environment_variable("XDG_DATA_HOME");
  return Home((data.empty() ? user_home() / ".local" / "share" : data) / "dtctl");
}

fs::path user_config_path()
{
  const auto config = from_environment_variable("XDG_CONFIG_HOME");
  return (config.empty() ? user_home() / ".config" : config) / "dtctl" / "config.yaml";
}

fs::path project_config_path(const fs::path& start)
{
  for (auto folder = fs::absolute(start);; folder = folder.parent_path()) {
    if (is_there(folder / "dtctl.yaml")) return folder / "dtctl.yaml";
    if (folder == folder.parent_path()) return {};
  }
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

fs::path engine_program()
{
  const char* named = std::getenv("DTCTL_ENGINE");
  const auto program = named != nullptr && named[0] != '\0' ? fs::absolute(named) : own_program().parent_path() / "dtengine";
  if (!is_there(program))
    throw Error(ErrorKind::environment, "the training engine is not at " + program.string() + "; build or install dtengine, or name it in DTCTL_ENGINE");
  return program;
}

fs::path recipe_library()
{
  const auto installed = own_program().parent_path().parent_path() / "share" / "dtctl" / "recipes";
  if (is_there(installed)) return installed;
  for (auto folder = own_program().parent_path(); folder != folder.parent_path(); folder = folder.parent_path())
    if (is_there(folder / "recipes" / "library")) return folder / "recipes" / "library";
  return {};
}

} // namespace dt
