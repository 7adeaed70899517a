// Where things are: the state folder and its parts, configuration, and our own programs.
#pragma once

#include "core/run_spec.hpp"

#include <filesystem>
#include <string>
#include <string_view>

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

// dtctl.yaml in the nearest folder from `start` upwards that has one; empty when there is none.
std::filesystem::path project_config_path(const std::filesystem::path& start);

// The running program's own file.
std::filesystem::path own_program();

// dtengine: $DTCTL_ENGINE, else beside the running program. An environment error when it is not there.
std::filesystem::path engine_program();

// recipes shipped with dtctl: <prefix>/share/dtctl/recipes when installed, else the source tree's; empty when neither exists.
std::filesystem::path recipe_library();

} // namespace dt
