// The files of a source: their stamp, which tells whether they have changed, and reading them.
#pragma once

#include "core/error.hpp"
#include "core/hash.hpp"
#include "engine/data/packing/readers/source_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace dt::data {

// Makes the usage error "NAME: cause".
Error source_error(const std::filesystem::path& path, std::string_view cause);

// Collects names, sizes, inodes and times (of the content and of the inode) of a source's files.
class SourceStamp {
 public:
  void add(std::string_view name, const struct stat& facts);
  // Adds a regular file. Throws an environment error if its facts cannot be read.
  void add(const std::filesystem::path& path);
  // Stores the hash and the newest time in the listing.
  void store(SourceListing& listing) const;

 private:
  Hasher hasher_;
  std::int64_t newest_ns_ = 0;
};

// Counts files that are left out by their extension.
class IgnoredFiles {
 public:
  void add(const std::filesystem::path& path) { add_extension(path.extension().string()); }
  void add_extension(std::string_view extension);
  // "12 files were left out because of their extension: .txt (10), .gif (2)." Empty if there are none.
  std::string remark() const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

// The name of a file or folder without the folders above it, also for a path that ends in a slash.
std::string last_name(const std::filesystem::path& path);

// Names of classes that have none of their own: "0", "1", …
std::vector<std::string> numbered_classes(std::int64_t count);

} // namespace dt::data
