// Files and folders that nobody can read, root included.
#pragma once

#include <filesystem>

namespace dt::test {

// Replaces `path` by a link that leads to itself. What was there is moved to PATH.aside.
inline void make_unreadable(const std::filesystem::path& path)
{
  std::filesystem::rename(path, path.string() + ".aside");
  std::filesystem::create_symlink(path.filename(), path);
}

} // namespace dt::test
