// The files of the user's own program (program.files): their list, the hash that identifies their content, and copies of them.
//
// Every entry of ProgramSpec::files is an absolute path that contains "/./". The part behind it is the path of the file or folder
// in a copy: "/home/me/study/./net" becomes "net" (the notation of rsync --relative). Folders are copied with all regular files
// in them, without hidden files and without Python's __pycache__; a folder of which nothing is copied is there, empty. A symbolic
// link becomes a copy of the file or folder to which it leads.
#pragma once

#include "core/spec/run_spec.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// A regular file of a program.
struct ProgramFile {
  std::string name;           // path in the copy: "net/layers.py"
  std::filesystem::path path; // where it is now
  bool is_executable = false;
};

// Returns the entry of ProgramSpec::files for `text`, a path relative to `folder`, as a recipe contains it.
std::string program_entry(const std::filesystem::path& folder, const std::string& text);
// The path in a copy of an entry.
std::string name_in_copy(const std::string& entry);

// All files of the program, in the order of their names. Throws a recipe error if an entry does not exist, is neither a file nor
// a folder, lies outside of the recipe's folder or cannot be read, and for a symbolic link that leads nowhere or back to a folder
// that contains it.
std::vector<ProgramFile> program_files(const ProgramSpec& program);

// Identifies the content of a run's program: "files-" and a hash over the names, the execute permissions and the bytes of its
// files. If the command starts a program by an absolute path, and that file exists here: also "-command-" and a hash over its
// bytes. With resources.wrapper the command is never hashed, because in a container the same path is another file, and with
// `program.identity: files` neither. Throws like program_files, and if the files are larger than `largest_program_bytes`
// together.
std::string program_id(const RunSpec& run);
inline constexpr std::uintmax_t largest_program_bytes = std::uintmax_t{256} << 20;

// Whether the program that the command starts is still the one that `id` contains. True if `id` contains none.
bool has_same_command(const RunSpec& run, std::string_view id);

// Whether the folder, which keep_program has made, contains the files of `id`.
bool has_same_files(const std::filesystem::path& copy, std::string_view id);

// Copies the files into `folder`, so that it contains a complete copy of `id` or does not exist. A copy that was damaged is
// replaced. Any number of processes may do so at the same time. Throws a recipe error if the files are not those of `id` any
// more.
void keep_program(const ProgramSpec& program, const std::string& id, const std::filesystem::path& folder);

// Copies everything in `copy`, which keep_program has made, into the new folder `target`.
void copy_program(const std::filesystem::path& copy, const std::filesystem::path& target);

// Copies dtctl_report.py (core/files/paths.hpp: report_modules) into a folder, so that the program finds it outside of jobs, too.
// Returns the path of the copy; one that is there with the same content stays. Throws an environment error if the module is not
// installed, and a usage error if the folder has another file of this name.
std::filesystem::path copy_report_module(const std::filesystem::path& folder);

} // namespace dt
