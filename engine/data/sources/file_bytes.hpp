// Finds a data set's files and reads them completely, with or without gzip.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dt::data {

// Makes the recipe error "data file <path>: <cause>". It is a recipe error because the recipe names a data set whose files are
// wrong.
Error file_error(const std::filesystem::path& path, std::string_view cause);

// Advice for missing files of a data set: how to make the set, or where to put the files.
std::string how_to_get(std::string_view data_set);

// The first of `names` that is a regular file in `folder`; empty if none is.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& folder, std::span<const std::string> names);

// Like find_file, but throws a recipe error with the names and the folder's content if none is a regular file.
std::filesystem::path require_file(std::string_view data_set, const std::filesystem::path& folder,
                                   std::span<const std::string> names);

// Returns the file's bytes, unpacked if its name ends in .gz. Throws an environment error if the file cannot be read; a recipe
// error if it is not gzip, is truncated, fails its checksum, has bytes after its end, or unpacks to more than max_bytes.
inline constexpr std::size_t max_unpacked_bytes = std::size_t{1} << 31;
std::string read_unpacked(const std::filesystem::path& path, std::size_t max_bytes = max_unpacked_bytes);

} // namespace dt::data
