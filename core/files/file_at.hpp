// Opens files without waiting, reads and writes at a position of an open file, and locks files that their holders remove.
#pragma once

#include "core/files/file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace dt {

// Opens a regular file for writing with these flags of open(2) (O_WRONLY, O_APPEND, O_CREAT with mode 0600, …); it is closed on
// exec. Throws a SystemError that names the file, and IrregularFile if something else is at its path: it never waits for the
// reader of a FIFO.
Descriptor open_regular(const std::filesystem::path& path, int flags);

// When the file was last changed, told in the time of this process's clock; NaN if there is no such file. Its age is measured by
// the clock of its file system alone, against an unnamed file that is written there now: a writer on another machine, or in a
// container, may have another clock than this process.
double changed_unix_s(const std::filesystem::path& file);

// Reads `count` bytes from position `begin` on into `bytes`; repeats after signals and short reads. Returns how many were read:
// fewer than `count` only if the file ends before. The SystemError names `path`.
std::uint64_t read_at(int descriptor, char* bytes, std::uint64_t count, std::uint64_t begin, const std::filesystem::path& path);

// Writes all bytes from position `begin` on; repeats after signals and short writes. The SystemError names `path`.
void write_at(int descriptor, std::string_view bytes, std::uint64_t begin, const std::filesystem::path& path);

// Like FileLock::try_acquire, for a file that the holder of the lock removes when it has finished: the lock is on the file that
// has this path now, not on one that was removed between opening and locking it.
std::optional<FileLock> try_lock_removable(const std::filesystem::path& path);

} // namespace dt
