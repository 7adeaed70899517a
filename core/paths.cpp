#include "core/paths.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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

std::string name_of_user(uid_t user)
{
  const passwd* entry = ::getpwuid(user);
  return (entry != nullptr ? std::string(entry->pw_name) + ", " : "") + "uid " + std::to_string(user);
}

bool is_trusted(uid_t user) { return user == ::geteuid() || user == 0; }

// Whether the group is the user's private group without other members. Under umask 002 that group can write every file of the
// user.
bool is_private_group(gid_t group)
{
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr || user->pw_gid != group) return false;
  const std::string name = user->pw_name;
  const struct group* entry = ::getgrgid(group);
  if (entry == nullptr || name != entry->gr_name) return false;
  return *entry->gr_mem == nullptr || (name == *entry->gr_mem && entry->gr_mem[1] == nullptr);
}

// Whether anybody except the owner may write. If the file has an access control list, the group bits contain the list's mask.
bool others_may_write(const fs::path& path, const struct stat& status)
{
  const bool has_list = ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  const bool group_may = (status.st_mode & S_IWGRP) != 0 && (has_list || !is_private_group(status.st_gid));
  return (status.st_mode & S_IWOTH) != 0 || group_may;
}

std::string mode_text(const struct stat& status) { return fmt::format("mode {:04o}", status.st_mode & 07777); }

// Explains how others can replace a file in this folder. Empty if they cannot.
std::string objection_to_folder(const fs::path& folder)
{
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return std::string("its folder cannot be looked at (") + std::strerror(errno) + ")";
  if (!is_trusted(status.st_uid))
    return fmt::format(
        "its folder belongs to another user ({}), who can replace it and so run commands as you; keep the file in a folder "
        "of your own",
        name_of_user(status.st_uid));
  const bool is_sticky = (status.st_mode & S_ISVTX) != 0; // only owners may rename and remove files
  if (is_sticky || !others_may_write(folder, status)) return {};
  return fmt::format(
      "other users can write to its folder ({}), replace the file and so run commands as you; to use it: chmod go-w {}",
      mode_text(status), shell_quote(folder.string()));
}

// Explains why the file must not be trusted. Empty if it can be trusted; nothing if the file does not exist.
std::optional<std::string> objection_to(const fs::path& file)
{
  struct stat link {
  }, status{};
  if (::lstat(file.c_str(), &link) != 0 || ::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return std::string("it cannot be looked at (") + std::strerror(errno) + ")";
  }
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  for (const auto owner : {link.st_uid, status.st_uid})
    if (!is_trusted(owner))
      return fmt::format(
          "it belongs to another user ({}), whose commands it could run as you; to use it, copy it to a folder of your own",
          name_of_user(owner));
  if (others_may_write(file, status))
    return fmt::format("other users can write it ({}) and so run commands as you; to use it: chmod go-w {}", mode_text(status),
                       shell_quote(file.string()));
  const auto there = S_ISLNK(link.st_mode) ? objection_to_folder(fs::canonical(file).parent_path()) : std::string();
  return there.empty() ? objection_to_folder(file.parent_path()) : there;
}

// Whether the search for a project's configuration ends at this folder: folders above it do not belong to the project.
bool is_last(const fs::path& folder)
{
  std::error_code ignored;
  return folder == folder.parent_path() || is_visible(folder / ".git") ||
         fs::equivalent(folder, from_environment_variable("HOME"), ignored);
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

ProjectConfig find_project_config(const fs::path& start)
{
  ProjectConfig found;
  for (auto folder = fs::absolute(start);; folder = folder.parent_path()) {
    const auto file = folder / "dtctl.yaml";
    const auto objection = objection_to(file);
    if (objection && objection->empty()) {
      found.file = file;
      return found;
    }
    if (objection) found.ignored.push_back(printable(file.string()) + " is ignored: " + *objection);
    if (is_last(folder)) return found;
  }
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

// The folder as it is installed, below <prefix>/share/dtctl, else as it lies in the source tree.
fs::path shipped_folder(const fs::path& installed_name, const fs::path& in_source)
{
  const auto installed = own_program().parent_path().parent_path() / "share" / "dtctl" / installed_name;
  if (is_visible(installed)) return installed;
  for (auto folder = own_program().parent_path(); folder != folder.parent_path(); folder = folder.parent_path())
    if (is_visible(folder / in_source)) return folder / in_source;
  return {};
}

} // namespace

fs::path recipe_library() { return shipped_folder("recipes", fs::path("recipes") / "library"); }

fs::path report_modules() { return shipped_folder("report", fs::path("share") / "dtctl" / "report"); }

} // namespace dt
