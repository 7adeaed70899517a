// OtherFileSystem: a folder on another file system than that of temporary files, where the machine has one.
#pragma once

#include <filesystem>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace dt::test {

class OtherFileSystem {
 public:
  OtherFileSystem()
  {
    std::error_code ignored;
    std::filesystem::create_directory(folder_, ignored);
  }
  OtherFileSystem(const OtherFileSystem&) = delete;
  OtherFileSystem& operator=(const OtherFileSystem&) = delete;
  ~OtherFileSystem()
  {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  const std::filesystem::path& folder() const { return folder_; }
  // Whether the folder exists and lies on another file system than `path`.
  bool differs_from(const std::filesystem::path& path) const
  {
    struct stat own, others;
    return ::stat(folder_.c_str(), &own) == 0 && ::stat(path.c_str(), &others) == 0 && own.st_dev != others.st_dev;
  }

 private:
  std::filesystem::path folder_ = "/dev/shm/dtctl-test-" + std::to_string(::getpid());
};

} // namespace dt::test
