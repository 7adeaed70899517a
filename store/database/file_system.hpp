// Determines the file system of a path, and whether SQLite can rely on its locks and shared memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::store {

struct FileSystem {
  std::string name;    // "ext4", "nfs", …, or "0x1234" if unknown
  bool local = false;  // true only for file systems that are known to be local
  bool shared = false; // true only for file systems that several machines are known to use at the same time; fuse may be anything
};

// Looks up statfs's f_type.
FileSystem file_system_of_type(std::uint64_t magic);

// File system of a file or, if it does not exist, of its folder. Throws an environment error if both cannot be examined.
FileSystem file_system_at(const std::filesystem::path& path);

} // namespace dt::store
