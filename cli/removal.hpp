// Removing folders of the home: all that was taken goes, or all of it is put back.
#pragma once

#include "core/file.hpp"
#include "core/paths.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

// One removal. Until commit() the folders lie in <home>/removed, and an error puts them back; what a killed dtctl has left there was
// asked to be removed, and the next removal ends it.
class Removal {
 public:
  // An environment error when another dtctl is removing something now.
  explicit Removal(const Home& home);
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal();

  // Takes a folder away; `name` tells it apart in <home>/removed. One that is not there is passed over.
  void take(const std::filesystem::path& folder, const std::string& name);
  // What was taken is gone for good.
  void commit();

 private:
  std::filesystem::path removed_;
  FileLock lock_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> taken_; // (where it was, where it is)
};

} // namespace dt::cli
