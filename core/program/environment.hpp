// The environment of the user's own program: its Python interpreter, the packages that are installed for it, and their versions.
//
// The interpreter is asked (in a process of its own; the packages are not imported), in the environment of the calling process.
// What identifies an environment is kept in home/environments/ID.json, ID being the hash of the file: implementation and version
// of the interpreter, names and versions of the packages (with the commit of those that were installed from a repository),
// conda's packages, torch's CUDA. Paths are no part of it: the same environment elsewhere has the same id.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

struct ProgramEnvironment {
  std::string id;      // empty: not known
  std::string unknown; // why it is not known, as a clause; empty also for a program that is not written in Python
  // For begin.json: python, python_program, python_environment, packages, torch, cuda, cudnn, nccl; or program_file and
  // program_hash of a program that is no script; or python_environment with "unknown: " and the reason.
  std::map<std::string, std::string> facts;
};

// Describes what the command would run now, in this process's environment and current folder. `environments` is
// Home::environments(). An answer is kept there, too, and used again until the interpreter or a folder of packages has changed; a
// file that cannot be written is no error.
ProgramEnvironment describe_program(const std::vector<std::string>& command, const std::filesystem::path& environments);

// For a program of which nothing can be known, with the reason as a clause.
ProgramEnvironment unknown_environment(const std::string& why);

// Puts another environment that is kept in the folder into `facts`.
void set_environment(std::map<std::string, std::string>& facts, const std::filesystem::path& environments, const std::string& id);

// One difference between two environments: "numpy 1.24.0, now 1.26.4", "tqdm 4.66.1, now missing".
struct EnvironmentChange {
  std::string text;
  std::string package; // the package's name; empty: of the interpreter, CUDA, or one of conda's packages that is not Python's
};

// What differs between two environments that are kept in the folder. Empty if one of the files cannot be read.
std::vector<EnvironmentChange> environment_changes(const std::filesystem::path& environments, std::string_view before,
                                                   std::string_view now);

// At most `most` of the changes in words, and one text that says how many more there are.
std::vector<std::string> texts_of(const std::vector<EnvironmentChange>& changes, std::size_t most = 8);

struct ChangesInUse {
  std::vector<EnvironmentChange> used, unused;
  std::string unknown; // why it is not known what the program imports, as a clause; all changes are then in `used`
};

// Tells the changes of packages that the program imports, or that an imported package requires, from the others. The program's
// files in the current folder are read (share/dtctl/program/dtctl_imports.py), and nothing is imported.
ChangesInUse changes_in_use(const std::vector<std::string>& command, const std::vector<EnvironmentChange>& changes);

} // namespace dt
