// The files that a system shows below /proc and /sys, below a folder.
#pragma once

#include "tests/core/put_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dt::test {

struct ShownFiles {
  void put(const std::filesystem::path& path, std::string_view text) const
  {
    std::filesystem::create_directories((root() / path).parent_path());
    put_file(root() / path, text);
  }
  const std::filesystem::path& root() const { return folder.path(); }
  TemporaryFolder folder;
};

} // namespace dt::test
