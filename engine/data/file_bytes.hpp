// Finding a data set's files and reading them whole, gzip or not.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dt::engine {

// "data file <path>: <cause>", as a recipe error: the recipe names a data set whose files do not hold what they should.
Error file_error(const std::filesystem::path& path, std::string_view cause);

// What to do when a data set's files are not there: how to make it, or where to put it.
std::string how_to_get(std::string_view data_set);

// The first of `names` that is a regular file in `folder`; nothing when none is.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& folder, std::span<const std::string> names);

// As find_file; a recipe error that lists the names looked for, and what is there, when none of them is.
std::filesystem::path require_file(std::string_view data_set, const std::filesystem::path& folder,
                                   std::span<const std::string> names);

// The file's bytes, unpacked when its name ends in .gz. An environment error when it cannot be read; a recipe error when it is
// not gzip, is cut short, fails its checksum, has bytes after its end, or unpacks to more than max_unpacked_bytes.
inline constexpr std::size_t max_unpacked_bytes = std::size_t{1} << 31;
std::string read_unpacked(const std::filesystem::path& path, std::size_t max_bytes = max_unpacked_bytes);

} // namespace dt::engine
