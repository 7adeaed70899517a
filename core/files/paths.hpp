// Paths of dtctl's configuration files and of its programs. Of its state folder: core/home/home.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// $XDG_DATA_HOME, else ~/.local/share: where a user's programs keep their data.
std::filesystem::path user_data_folder();

// $XDG_CONFIG_HOME/dtctl/config.yaml, else ~/.config/dtctl/config.yaml.
std::filesystem::path user_config_path();

struct ProjectConfig {
  std::filesystem::path file;       // empty if there is none
  std::vector<std::string> ignored; // one message for each dtctl.yaml that was ignored: which file, why, and what to do
};

// Finds dtctl.yaml in `start` or in the nearest folder above it. The profiles in this file run commands, so it is only used if it
// is a regular file, belongs to the user or to root, and nobody else can write or replace it. The search ends after the user's
// home folder or after the root of a repository (a folder that contains .git). The rules follow git's safe.directory.
ProjectConfig find_project_config(const std::filesystem::path& start);

// Path of the running program.
std::filesystem::path own_program();

// Path of dtengine: $DTCTL_ENGINE, else the folder of the running program. Throws an environment error if the file does not
// exist.
std::filesystem::path engine_program();

// Path of dtsim, which executes simulated runs: $DTCTL_SIMULATOR, else the folder of the running program. Throws an environment
// error if the file does not exist.
std::filesystem::path simulator_program();

// Path of dtjob, which runs a job on its node: $DTCTL_JOB_AGENT, else the folder of the running program. Throws an environment
// error if the file does not exist.
std::filesystem::path agent_program();

// The file of the program that the first word of a command names, or nothing if there is none that may be executed. A word
// without a slash is looked up in `path`, the value of a variable PATH.
std::filesystem::path find_program(const std::string& word, std::string_view path);

// The same in this process's PATH.
std::filesystem::path find_installed(const std::string& word);

// A library of ours that programs load: in the build tree or the installation of the running program. Empty if it is not there.
std::filesystem::path shipped_library(const std::string& file);

// Folder of the modules for a user's own program, dtctl_report.py, dtctl_report.h and dtctl_sync/: <prefix>/share/dtctl/program
// if installed, else share/dtctl/program of the source tree. Empty if neither exists.
std::filesystem::path report_modules();

// Folder of the sources of the module for Slurm, as include path: <prefix>/share/dtctl/slurm if installed, else the source tree.
// Empty if neither exists.
std::filesystem::path slurm_module_sources();

// Folder of the recipes shipped with dtctl: <prefix>/share/dtctl/recipes if installed, else recipes/library of the source tree.
// Empty if neither exists.
std::filesystem::path recipe_library();

// The JSON Schema of recipes for editors: <prefix>/share/dtctl/recipe.schema.json, also in a build tree. Empty if it is not
// there.
std::filesystem::path recipe_schema_file();

} // namespace dt
