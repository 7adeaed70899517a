// TemporaryFile: a new file beside its target, so that the target can be created or replaced in one system call.
#pragma once

#include <filesystem>
#include <string_view>

#include <sys/types.h>

namespace dt {

class TemporaryFile {
 public:
  enum class Synced { yes, no };
  // Writes the bytes to a new file in the target's folder, with the mode less the umask; Synced::yes: until they are on the disk.
  // A SystemError that names the target, and nothing is left behind, when that fails.
  TemporaryFile(const std::filesystem::path& target, std::string_view bytes, Synced synced, mode_t mode);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  // Removes the file unless it was renamed.
  ~TemporaryFile();
  // The target is this file from now on, whether it existed or not. A SystemError that names the target.
  void rename_to_target();
  // Creates the target as this file; false when the target exists already. A SystemError that names the target.
  bool link_to_target() const;

 private:
  std::filesystem::path target_, path_;
  bool renamed_ = false;
};

// The folder that holds the path; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

} // namespace dt
