// Reads and writes at a position of an open file, and locks files that their holders remove.
#pragma once

#include "core/file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace dt {

// Reads `count` bytes from position `begin` on into `bytes`; repeats after signals and short reads. Returns how many were read:
// fewer than `count` only if the file ends before. The SystemError names `path`.
std::uint64_t read_at(int descriptor, char* bytes, std::uint64_t count, std::uint64_t begin, const std::filesystem::path& path);

// Writes all bytes from position `begin` on; repeats after signals and short writes. The SystemError names `path`.
void write_at(int descriptor, std::string_view bytes, std::uint64_t begin, const std::filesystem::path& path);

// Like FileLock::try_acquire, for a file that the holder of the lock removes when it has finished: the lock is on the file that
// has this path now, not on one that was removed between opening and locking it.
std::optional<FileLock> try_lock_removable(const std::filesystem::path& path);

} // namespace dt
