// Which file system a path lies on, and whether SQLite may trust its locks and shared memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::store {

struct FileSystem {
  std::string name;   // "ext4", "nfs", … or "0x1234" when it is none we know
  bool local = false; // only file systems known to be local count as local
};

// From statfs's f_type.
FileSystem file_system_of_type(std::uint64_t magic);

// Of a file that exists, or of its folder. An environment error when neither can be asked.
FileSystem file_system_at(const std::filesystem::path& path);

} // namespace dt::store
