// Files written by the thousand: whole or absent for every reader, but not synced one by one as core's are.
//
// 10,000 submissions are 40,000 files; a sync each would take minutes. What a power cut may take is put right by
// sync_filesystem at the two moments that matter (submit.cpp), and by reconcile for what comes after.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dt::jobs {

// Writes beside `path` and renames over it. An environment error names the path, and nothing is left behind.
void write_file_quick(const std::filesystem::path& path, std::string_view bytes);

// For a file that nobody else can be writing and whose readers take a torn one for none: created under its own name. An
// environment error when there is one already, which stays as it is.
void write_new_file_quick(const std::filesystem::path& path, std::string_view bytes);

// Replaces a file's content by a longer one in place, in one write.
void extend_file_quick(const std::filesystem::path& path, std::string_view bytes);

// As write_file_quick, but never replaces: false when `path` exists already. Of several callers exactly one gets true.
bool create_file_quick(const std::filesystem::path& path, std::string_view bytes);

// Everything written so far to the file system that holds `folder` survives a power cut from here on.
void sync_filesystem(const std::filesystem::path& folder);

// The last `bytes` of a file; empty when there is none. Errors as of read_file_if_exists.
std::string read_tail(const std::filesystem::path& path, std::size_t bytes);

} // namespace dt::jobs
