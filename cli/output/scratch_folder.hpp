// ScratchFolder: a folder of our own below $TMPDIR, which goes away with the object.
#pragma once

#include "core/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace dt::cli {

class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "dtctl-XXXXXX").string())
  {
    if (::mkdtemp(path_.data()) == nullptr) throw system_error("create " + path_, errno);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return std::filesystem::path(path_) / name; }

 private:
  std::string path_;
};

} // namespace dt::cli
