// Which files an attempt has, read at once: asking for a dozen files one by one, most of them absent, is what a look at 10,000
// runs costs.
#pragma once

#include "core/run_record.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dt::jobs {

class AttemptFiles {
 public:
  AttemptFiles() = default;
  // Empty when there is no such folder.
  explicit AttemptFiles(const AttemptFolder& attempt);

  // Whether the file is worth opening. A listing is no snapshot: with an `end` among the names, a file written just before it
  // may have been passed over, so then every file is.
  bool may_have(const std::filesystem::path& file) const;

 private:
  std::vector<std::string> names_;
  bool has_ended_ = false;
};

// Calls work(i) for i = 0 … count-1 on a few threads, each with neighbouring indices; the first exception is thrown again.
// For file systems, where one thread mostly waits.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace dt::jobs
