// Atomic files without a sync per file, for large numbers of files. Readers see a complete file or none.
//
// A submission of 10,000 runs writes 40,000 files, and syncing each would take minutes. submit/submit.cpp calls sync_filesystem
// at the two moments that matter; reconcile repairs what a later power cut destroys.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dt::jobs {

// Writes a temporary file in the same folder and renames it to `path`. The environment error names the path; no temporary file
// remains.
void write_file_quick(const std::filesystem::path& path, std::string_view bytes);

// Creates the file directly under its final name. Use it only if nobody else can write the file and its readers treat a torn file
// as absent. Throws an environment error if the file exists; that file is not changed.
void write_new_file_quick(const std::filesystem::path& path, std::string_view bytes);

// Overwrites a file in place with content that is at least as long as before.
void extend_file_quick(const std::filesystem::path& path, std::string_view bytes);

// Like write_file_quick, but never replaces a file: returns false if `path` exists already. If several processes call it, exactly
// one gets true.
bool create_file_quick(const std::filesystem::path& path, std::string_view bytes);

// Syncs the file system that contains `folder`: everything written to it before survives a power cut.
void sync_filesystem(const std::filesystem::path& folder);

// Returns the last `bytes` of a file, or an empty text if it does not exist. Errors as in read_file_if_exists.
std::string read_tail(const std::filesystem::path& path, std::size_t bytes);

} // namespace dt::jobs
