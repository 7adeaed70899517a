#include "store/database/file_system.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <sys/vfs.h>

namespace dt::store {
namespace {

struct KnownFileSystem {
  std::uint32_t magic;
  const char* name;
  bool local;
  bool shared = false;
};

// Magic numbers from statfs(2) and the kernel's headers. FUSE is not trusted, because any file system can be behind it (sshfs,
// BeeGFS clients, virtiofs).
constexpr std::array known_file_systems{
    KnownFileSystem{0x0000EF53, "ext4", true},          KnownFileSystem{0x58465342, "xfs", true},
    KnownFileSystem{0x9123683E, "btrfs", true},         KnownFileSystem{0x01021994, "tmpfs", true},
    KnownFileSystem{0x858458F6, "ramfs", true},         KnownFileSystem{0x794C7630, "overlayfs", true},
    KnownFileSystem{0x2FC12FC1, "zfs", true},           KnownFileSystem{0xF2F52010, "f2fs", true},
    KnownFileSystem{0x3153464A, "jfs", true},           KnownFileSystem{0x00004D44, "vfat", true},
    KnownFileSystem{0x2011BAB0, "exfat", true},         KnownFileSystem{0xCA451A4E, "bcachefs", true},
    KnownFileSystem{0x00006969, "nfs", false, true},    KnownFileSystem{0x0000517B, "smb", false, true},
    KnownFileSystem{0xFF534D42, "cifs", false, true},   KnownFileSystem{0xFE534D42, "smb2", false, true},
    KnownFileSystem{0x0BD00BD0, "lustre", false, true}, KnownFileSystem{0x47504653, "gpfs", false, true},
    KnownFileSystem{0x65735546, "fuse", false},         KnownFileSystem{0x01021997, "9p", false},
    KnownFileSystem{0x5346414F, "afs", false, true},    KnownFileSystem{0x00C36400, "ceph", false, true},
    KnownFileSystem{0x19830326, "beegfs", false, true}, KnownFileSystem{0x20030528, "orangefs", false, true},
    KnownFileSystem{0x7461636F, "ocfs2", false, true},  KnownFileSystem{0x01161970, "gfs2", false, true},
    KnownFileSystem{0xAAD7AAEA, "panfs", false, true},  KnownFileSystem{0x786F4256, "vboxsf", false},
};

} // namespace

FileSystem file_system_of_type(std::uint64_t magic)
{
  const auto* found =
      std::find_if(known_file_systems.begin(), known_file_systems.end(), [&](const auto& k) { return k.magic == magic; });
  if (found != known_file_systems.end()) return {found->name, found->local, found->shared};
  std::array<char, 24> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%llx", static_cast<unsigned long long>(magic));
  return {hex.data()};
}

FileSystem file_system_at(const std::filesystem::path& path)
{
  struct statfs status {};
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (::statfs(path.c_str(), &status) != 0 && ::statfs(folder.c_str(), &status) != 0)
    throw system_error("look up the file system of " + path.string(), errno);
  // f_type is signed on some machines, but the magic numbers are unsigned 32-bit values.
  return file_system_of_type(static_cast<std::uint32_t>(status.f_type));
}

} // namespace dt::store
