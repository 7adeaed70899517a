// Checks a packed set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dt::data {

struct CheckOptions {
  std::filesystem::path path;
  bool decode = false; // also decode the images
  int threads = 0;     // 0: one per core
  // Is called now and then with the numbers of records that are checked and that there are. If it throws, the check stops.
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};

// A record that is not as it should be.
struct BadRecord {
  std::int64_t record = 0;
  std::string name, cause;
};

struct CheckResult {
  std::int64_t records = 0;
  std::vector<BadRecord> bad;       // ascending
  std::vector<std::string> remarks; // sentences about images and channels that hold one value only; of JPEG files if decoded
};

// Reads all records and compares their hashes with the index. Throws a recipe error if the file is not a complete packed set or
// its index has changed; an environment error if it cannot be read.
CheckResult check_packed(const CheckOptions& options);

} // namespace dt::data
