// Files that are whole or absent: what a crash must not tear goes through here.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// The whole file; an environment error that names it when it cannot be read.
std::string read_file(const std::filesystem::path& path);

// The whole file, or nothing when there is none.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path);

// Writes beside `path`, syncs file and folder, renames over it: readers see the old bytes or the new ones, also after a
// power cut. The error of a full or read-only disk names the path, and nothing is left behind.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// As write_file_atomic for readers, but not synced: for what a power cut makes untrue anyway.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

// As write_file_atomic, but never replaces: false when `path` exists already. Of several callers exactly one gets true.
bool create_file_exclusive(const std::filesystem::path& path, std::string_view bytes);

// All bytes to an open descriptor, whatever signals and short writes come in between. An environment error names `path`.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// Names in a folder, in no order, without "." and ".."; none when there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Makes the folder and its parents.
void make_folders(const std::filesystem::path& path);

// An advisory lock on a file (flock), held while the object lives and by nobody else on this machine.
class FileLock {
public:
  // Waits for it.
  static FileLock acquire(const std::filesystem::path& path);
  // Nothing when somebody else holds it.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();
  int descriptor() const { return descriptor_; }

private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace dt
