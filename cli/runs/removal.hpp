// Removes folders of the home as a transaction: either all folders are removed, or all are put back.
#pragma once

#include "core/locked_home.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

// Why a file in this folder cannot grow: "No space left on device", "Disk quota exceeded". Empty if it can, or if another error
// prevents it.
std::string why_full(const std::filesystem::path& folder);

// One removal. Until commit() the folders are in <home>/removed, and the destructor puts them back after an error. Where runs,
// studies or data is a link to another file system, they are in a folder `.removed` beside them instead, because a rename does
// not leave a file system. Folders left by a killed dtctl are deleted by the next removal.
class Removal {
 public:
  explicit Removal(const LockedHome& home);
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal();

  // Makes what a removal needs in the home, so that it works on a full disk later.
  static void prepare(const Home& home);

  // Moves a folder of runs, studies or data to <home>/removed/`name`. A folder that does not exist is skipped.
  void take(const std::filesystem::path& folder, const std::string& name);
  // Deletes the folders for good.
  void commit();

 private:
  std::vector<std::filesystem::path> beside_; // the folders `.removed`
  std::filesystem::path removed_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> taken_; // (original path, current path)
};

} // namespace dt::cli
