// The home: the one folder that holds everything dtctl keeps (runs, studies, data sets, the database, the local queue).
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace dt {

class Home {
 public:
  explicit Home(std::filesystem::path root) : root_(std::move(root)) {}
  // $DTCTL_HOME, else $XDG_DATA_HOME/dtctl, else ~/.local/share/dtctl. Throws like require_own_home and require_possible_home.
  static Home from_environment();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path runs() const { return root_ / "runs"; }
  std::filesystem::path run(std::string_view key) const { return runs() / key; }
  std::filesystem::path studies() const { return root_ / "studies"; }
  std::filesystem::path study(std::string_view id) const { return studies() / id; }
  // The copy of the files of a user's own program (core/program/program_files.hpp).
  std::filesystem::path program(std::string_view id) const { return root_ / "programs" / id; }
  // Python environments of own programs, and changes of repositories that were not committed: files named after their content.
  std::filesystem::path environments() const { return root_ / "environments"; }
  std::filesystem::path sources() const { return root_ / "sources"; }
  std::filesystem::path predictions() const { return root_ / "predictions"; }
  // The recipes of `dtctl simulate` and the compute profiles that they name.
  std::filesystem::path simulations() const { return root_ / "simulations"; }
  std::filesystem::path notes() const { return root_ / "notes.json"; }         // core/record/notes.hpp
  std::filesystem::path baselines() const { return root_ / "baselines.json"; } // core/record/baselines.hpp
  std::filesystem::path database() const { return root_ / "results.db"; }
  std::filesystem::path local_queue() const { return root_ / "local"; }
  std::filesystem::path data() const { return root_ / "data"; }
  // The file of the packed set with this name.
  std::filesystem::path packed_set(const std::string& name) const { return data() / (name + ".pack"); }
  // The folder of a data set; the file of a packed one.
  std::filesystem::path data_place(const DataSpec& spec) const
  {
    if (!spec.path.empty()) return spec.path;
    return spec.name == "packed" ? packed_set(spec.set) : data() / spec.name;
  }

 private:
  std::filesystem::path root_;
};

// Bytes that the path of a database may have, with its links resolved, too: SQLite has 512 and needs 8 for "-journal".
inline constexpr std::size_t longest_database_path = 504;

// Throws a usage error, which says what to do, if no home can be at this path: the path is too long for SQLite, or it is a file.
void require_possible_home(const std::filesystem::path& root);

// Throws an environment error, which says what to do, if the home or one of its folders from which something is executed belongs
// to another user or can be written by one. A home that does not exist yet is accepted.
void require_own_home(const std::filesystem::path& root);

} // namespace dt
