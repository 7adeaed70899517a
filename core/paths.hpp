// Where things are: the state folder and its parts, configuration, and our own programs.
#pragma once

#include "core/run_spec.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// Everything dtctl keeps lies under one folder, the home: runs, studies, data sets, the database, the local queue.
class Home {
public:
  explicit Home(std::filesystem::path root) : root_(std::move(root)) {}
  // $DTCTL_HOME, else $XDG_DATA_HOME/dtctl, else ~/.local/share/dtctl.
  static Home from_environment();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path runs() const { return root_ / "runs"; }
  std::filesystem::path run(std::string_view key) const { return runs() / key; }
  std::filesystem::path studies() const { return root_ / "studies"; }
  std::filesystem::path study(std::string_view id) const { return studies() / id; }
  std::filesystem::path database() const { return root_ / "results.db"; }
  std::filesystem::path local_queue() const { return root_ / "local"; }
  std::filesystem::path data_folder(const DataSpec& data) const { return data.path.empty() ? root_ / "data" / data.name : std::filesystem::path(data.path); }

private:
  std::filesystem::path root_;
};

// $XDG_CONFIG_HOME/dtctl/config.yaml, else ~/.config/dtctl/config.yaml.
std::filesystem::path user_config_path();

struct ProjectConfig {
  std::filesystem::path file;       // empty: there is none
  std::vector<std::string> ignored; // of each dtctl.yaml that was passed over: which one, why, and what to do
};

// dtctl.yaml in the nearest folder from `start` upwards that has one which may be trusted. Its profiles run commands, so the file
// must be the user's or root's, nobody else may be able to write or replace it, and it must be a regular file. The search ends at
// the home folder and at a repository's root (a folder with .git), both included. git's safe.directory is the model.
ProjectConfig find_project_config(const std::filesystem::path& start);

// The running program's own file.
std::filesystem::path own_program();

// dtengine: $DTCTL_ENGINE, else beside the running program. An environment error when it is not there.
std::filesystem::path engine_program();

// recipes shipped with dtctl: <prefix>/share/dtctl/recipes when installed, else the source tree's; empty when neither exists.
std::filesystem::path recipe_library();

} // namespace dt
