// A folder for all ranks of a test.
#pragma once

#include "engine/comm/communicator.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <optional>

namespace dt::test {

// Rank 0's folder, on every rank.
class SharedFolder {
 public:
  explicit SharedFolder(comm::Communicator& comm) : comm_(comm)
  {
    if (comm.is_root()) own_.emplace();
    path_ = comm.broadcast_text(own_ ? own_->path().string() : "");
  }
  ~SharedFolder() { comm_.barrier(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  comm::Communicator& comm_;
  std::optional<TemporaryFolder> own_;
  std::filesystem::path path_;
};

} // namespace dt::test
