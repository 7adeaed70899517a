// The files of the user's own program (program.files): their list, the hash that identifies their content, and copies of them.
//
// Every entry of ProgramSpec::files is an absolute path that contains "/./". The part behind it is the path of the file or folder
// in a copy: "/home/me/study/./net" becomes "net" (the notation of rsync --relative). Folders are copied with everything in them,
// without hidden files and without Python's __pycache__.
#pragma once

#include "core/spec/run_spec.hpp"

#include <filesystem>
#include <string>
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
// a folder, lies outside of the recipe's folder or cannot be read.
std::vector<ProgramFile> program_files(const ProgramSpec& program);

// Identifies the content of a program: "files-" and a hash over the names, the execute permissions and the bytes of its files. If
// the command starts a program by an absolute path, also over the bytes of that program. Throws like program_files, and if the
// files are larger than `largest_program_bytes` together.
std::string program_id(const ProgramSpec& program);
inline constexpr std::uintmax_t largest_program_bytes = std::uintmax_t{256} << 20;

// The same for a copy, which keep_program has made in `folder`.
std::string program_id_of_copy(const ProgramSpec& program, const std::filesystem::path& folder);

// Copies the files into `folder`, if it does not exist yet; then it contains a complete copy or does not exist. Throws a recipe
// error if the content has not the id `id` any more.
void keep_program(const ProgramSpec& program, const std::string& id, const std::filesystem::path& folder);

// Copies everything in `copy`, which keep_program has made, into the new folder `target`.
void copy_program(const std::filesystem::path& copy, const std::filesystem::path& target);

} // namespace dt
