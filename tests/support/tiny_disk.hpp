// A file system of a few KiB, to run out of. Only root may mount one.
#pragma once

#include <filesystem>
#include <string>

#include <sys/mount.h>

namespace dt::test {

class TinyDisk {
 public:
  // Mounts a tmpfs of `bytes` on the folder, which must exist.
  TinyDisk(const std::filesystem::path& folder, std::size_t bytes)
      : folder_(folder), mounted_(::mount("none", folder.c_str(), "tmpfs", 0, ("size=" + std::to_string(bytes)).c_str()) == 0)
  {
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  ~TinyDisk()
  {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  // False where this user may not mount: the test says so and stops.
  bool is_mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_;
};

} // namespace dt::test
