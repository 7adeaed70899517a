// Removes folders of the home as a transaction: either all folders are removed, or all are put back.
#pragma once

#include "core/home/locked_home.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

// Why a file in this folder cannot grow by what the database needs for a removal: "No space left on device", "Disk quota
// exceeded". Empty if it can, or if another error prevents it.
std::string why_full(const std::filesystem::path& folder);

// Makes <home>/reserve, which a removal gives up on a full disk so that the database can be written. Makes none if that would
// take a large part of what is left, unless `always`. Nothing happens if it is there, or if there is no space.
void keep_reserve(const Home& home, bool always = false);

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
  // Deletes what the folders hold for good, and the reserve, before the database is written. The folders stay in <home>/removed,
  // empty, until commit(): they say what the database has not forgotten yet (emptied()).
  void free_space();
  // Deletes the folders for good.
  void commit();

 private:
  void remove_beside() const;

  Home home_;
  std::vector<std::filesystem::path> beside_; // the folders `.removed`
  std::filesystem::path removed_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> taken_; // (original path, current path)
  std::vector<std::filesystem::path> freed_;                                   // current paths of what can be put back no more
};

// The names of the studies and runs that a removal has emptied but not deleted, because the database could not be written.
struct Emptied {
  std::vector<std::string> studies, runs;
};
Emptied emptied(const Home& home);
// Deletes their folders, after the database has forgotten them.
void forget_emptied(const LockedHome& home);

} // namespace dt::cli
