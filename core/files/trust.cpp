#include "core/files/trust.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

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
  if ((status.st_mode & S_IWOTH) != 0) return true;
  if ((status.st_mode & S_IWGRP) == 0) return false;
  return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0 || !is_private_group(status.st_gid);
}

std::string mode_text(const struct stat& status) { return fmt::format("mode {:04o}", status.st_mode & 07777); }

// Why another user could run commands as this one through what lies at a path.
struct Doubt {
  enum class Kind { none, absent, hidden, foreign, open } kind = Kind::none;
  std::string facts; // hidden: the error; foreign: the owner; open: the mode
  mode_t mode = 0;
};

Doubt doubt_of(const fs::path& path)
{
  using Kind = Doubt::Kind;
  struct stat link {
  }, status{};
  if (::lstat(path.c_str(), &link) != 0 || ::stat(path.c_str(), &status) != 0)
    return {errno == ENOENT ? Kind::absent : Kind::hidden, std::strerror(errno)};
  for (const auto owner : {link.st_uid, status.st_uid})
    if (!is_trusted(owner)) return {Kind::foreign, name_of_user(owner), status.st_mode};
  if (others_may_write(path, status)) return {Kind::open, mode_text(status), status.st_mode};
  return {Kind::none, "", status.st_mode};
}

// Explains how others can replace a file in this folder. Empty if they cannot.
std::string objection_to_folder(const fs::path& folder)
{
  const auto doubt = doubt_of(folder);
  switch (doubt.kind) {
  case Doubt::Kind::none:
    return {};
  case Doubt::Kind::absent:
  case Doubt::Kind::hidden:
    return "its folder cannot be looked at (" + doubt.facts + ")";
  case Doubt::Kind::foreign:
    return fmt::format(
        "its folder belongs to another user ({}), who can replace it and so run commands as you; keep the file in a "
        "folder of your own",
        doubt.facts);
  case Doubt::Kind::open:
    break;
  }
  if ((doubt.mode & S_ISVTX) != 0) return {}; // only owners may rename and remove files
  return fmt::format(
      "other users can write to its folder ({}), replace the file and so run commands as you; to use it: chmod go-w {}",
      doubt.facts, shell_quote(folder.string()));
}

constexpr const char* home_of_your_own = "Every user needs a home of their own: set DTCTL_HOME to a folder of yours, or unset it "
                                         "to use ~/.local/share/dtctl. To share "
                                         "settings, put a dtctl.yaml into the project's folder";

} // namespace

std::optional<std::string> objection_to_file(const fs::path& file)
{
  const auto doubt = doubt_of(file);
  if (doubt.kind == Doubt::Kind::absent) return std::nullopt;
  if (doubt.kind == Doubt::Kind::hidden) return "it cannot be looked at (" + doubt.facts + ")";
  if (!S_ISREG(doubt.mode)) return "it is not a regular file";
  if (doubt.kind == Doubt::Kind::foreign)
    return fmt::format(
        "it belongs to another user ({}), whose commands it could run as you; to use it, copy it to a folder of your own",
        doubt.facts);
  if (doubt.kind == Doubt::Kind::open)
    return fmt::format("other users can write it ({}) and so run commands as you; to use it: chmod go-w {}", doubt.facts,
                       shell_quote(file.string()));
  const auto there = fs::is_symlink(file) ? objection_to_folder(fs::canonical(file).parent_path()) : std::string();
  return there.empty() ? objection_to_folder(file.parent_path()) : there;
}

void require_own(const fs::path& path)
{
  const auto doubt = doubt_of(path);
  if (doubt.kind == Doubt::Kind::foreign)
    throw Error(
        ErrorKind::environment,
        fmt::format("{} belongs to another user ({}), who could run commands as you, so it is not used. Move it out of the home",
                    path.string(), doubt.facts));
  if (doubt.kind == Doubt::Kind::open)
    throw Error(
        ErrorKind::environment,
        fmt::format("Other users can write to {} ({}) and so run commands as you, so it is not used. Look for files in it that "
                    "are not yours, then: chmod -R go-w {}",
                    path.string(), doubt.facts, shell_quote(path.string())));
}

void require_own_root(const fs::path& root)
{
  const auto doubt = doubt_of(root);
  if (doubt.kind == Doubt::Kind::foreign)
    throw Error(ErrorKind::environment,
                fmt::format("The home {} belongs to another user ({}), and what lies in a home is executed. {}", root.string(),
                            doubt.facts, home_of_your_own));
  if (doubt.kind == Doubt::Kind::hidden)
    throw Error(ErrorKind::environment,
                fmt::format("The home {} cannot be looked at ({}). {}", root.string(), doubt.facts, home_of_your_own));
  struct stat status {};
  if (::stat(root.c_str(), &status) != 0 || status.st_uid == ::geteuid() ||
      ::faccessat(AT_FDCWD, root.c_str(), W_OK | X_OK, AT_EACCESS) == 0)
    return;
  throw Error(ErrorKind::environment, fmt::format("The home {} belongs to another user ({}). {}", root.string(),
                                                  name_of_user(status.st_uid), home_of_your_own));
}

} // namespace dt
