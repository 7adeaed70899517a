// Reading files, and writing them atomically: after a crash a file is either complete or absent.
#pragma once

#include "core/error.hpp"
#include "core/files/descriptor.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// The path leads to a folder, a FIFO, a socket or a device, although a regular file was expected.
class IrregularFile : public Error {
 public:
  explicit IrregularFile(const std::string& message) : Error(ErrorKind::environment, message) {}
};

// Returns the whole file. Throws a SystemError that names the file if it cannot be read, and IrregularFile if the path does not
// lead to a regular file. Never blocks on a FIFO or a device.
std::string read_file(const std::filesystem::path& path);

// Like read_file, but returns nothing if the file does not exist. Only the error "no such file" (ENOENT) counts as that.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path);
// The content; empty if the file is missing or cannot be read, as files of /proc and /sys of other users or of what has ended.
std::string text_if_readable(const std::filesystem::path& path);

// Opens a regular file for reading, as read_file does; a closed descriptor when there is none.
Descriptor open_if_exists(const std::filesystem::path& path);

// Whether something exists at `path` (symbolic links are followed). Only ENOENT means no; any other error of stat is thrown as a
// SystemError.
bool is_there(const std::filesystem::path& path);

// Whether `path` leads to a folder. Throws like is_there.
bool is_folder(const std::filesystem::path& path);

// Who may read a new file or list a new folder. Files that dtctl keeps for itself may contain values of environment variables, so
// only their owner may read them (modes 0600 and 0700). Files that a user asks for by name get the usual modes (0644 and 0777,
// reduced by the umask).
enum class Readers { owner, everybody };

// Writes a temporary file in the same folder, syncs it, renames it to `path` and syncs the folder. Readers see either the old
// bytes or the new bytes, also after a power cut. If the disk is full or read-only, the error names the path and no temporary
// file remains.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes, Readers readers = Readers::owner);

// Like write_file_atomic, but without sync: for files whose content is out of date after a power cut anyway.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

// Like write_file_atomic, but never replaces a file: returns false if `path` exists already. If several processes call it,
// exactly one gets true.
bool create_file_exclusive(const std::filesystem::path& path, std::string_view bytes, Readers readers = Readers::owner);

// Writes all bytes to an open descriptor; repeats after signals and short writes. The environment error names `path`.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// Syncs a folder: files that were created, renamed or removed in it stay so after a power cut.
void sync_folder(const std::filesystem::path& folder);

// Names in a folder, unordered, without "." and "..". Returns an empty list if the folder does not exist. Throws a SystemError if
// the folder cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Names of the files in a folder that end in `extension` (".yaml"), without it and sorted. Like names_in for a missing folder.
std::vector<std::string> stems_in(const std::filesystem::path& folder, std::string_view extension);

// Makes the folder and its parents. Modes of existing folders are not changed. Returns false if the folder existed already.
bool make_folders(const std::filesystem::path& path, Readers readers = Readers::owner);
// Like make_folders, but the folder's parent must exist. A job makes its folders so: while its home is moved, nothing of the home
// may be made anew at the old place.
bool make_folder(const std::filesystem::path& path, Readers readers = Readers::owner);

// Writes a file that only makes the next run quicker, and its folder. Nothing happens if that cannot be written or if the
// folder's parent is not there: a home that is being moved is not made anew at its old place.
void keep_file(const std::filesystem::path& path, std::string_view bytes);

// Returns the folder's mode as text ("0755") if users other than its owner have any access to it. Returns nothing if they have
// none, or if the folder does not exist.
std::optional<std::string> open_mode(const std::filesystem::path& folder);

// An advisory lock on a file (flock). At most one process on this machine holds it; the destructor releases it.
class FileLock {
 public:
  // Waits until the lock is free.
  static FileLock acquire(const std::filesystem::path& path);
  // Returns nothing if somebody else holds the lock.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();
  int descriptor() const { return descriptor_; }

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace dt
