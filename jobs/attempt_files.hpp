// A listing of the files of an attempt, read once. Most of the dozen possible files are absent, and opening each of them would
// dominate the cost of the status of 10,000 runs.
#pragma once

#include "core/record/run_record.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dt::jobs {

class AttemptFiles {
 public:
  AttemptFiles() = default;
  // The listing is empty if the folder does not exist.
  explicit AttemptFiles(const AttemptFolder& attempt);

  // Whether it is worth opening the file. Files can appear while a folder is listed: if the listing contains `end`, it may lack a
  // file that was written just before it. In that case the function returns true for every file.
  bool may_have(const std::filesystem::path& file) const;

 private:
  std::vector<std::string> names_;
  bool has_ended_ = false;
};

// Calls work(i) for i = 0 … count-1 on a few threads, each with consecutive indices; rethrows the first exception. Meant for file
// operations, during which a thread mostly waits.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace dt::jobs
