// Files that are whole or absent: what a crash must not tear goes through here.
#pragma once

#include "core/error.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// A folder, a FIFO, a socket or a device lies where a file should.
class IrregularFile : public Error {
public:
  explicit IrregularFile(const std::string& message) : Error(ErrorKind::environment, message) {}
};

// The whole file; a SystemError that names it when it cannot be read. Only regular files are read: anything else in the file's
// place is an IrregularFile, and does not block the caller.
std::string read_file(const std::filesystem::path& path);

// The whole file, or nothing when there is none. Only "no such file" (ENOENT) means that there is none.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path);

// Opens a regular file for reading, as read_file does; -1 when there is none. The caller closes the descriptor.
int open_if_exists(const std::filesystem::path& path);

// Whether `path` leads to something. Only "no such file" (ENOENT) means no: what cannot be looked at is a SystemError.
bool is_there(const std::filesystem::path& path);

// Whether `path` leads to a folder; a SystemError as with is_there.
bool is_folder(const std::filesystem::path& path);

// Who may read a new file or look into a new folder. What dtctl keeps may hold values of environments, so it is the owner's alone
// (0600, 0700); what a user asks for by name gets the usual modes (0644 and 0777, less the umask).
enum class Readers { owner, everybody };

// Writes beside `path`, syncs file and folder, renames over it: readers see the old bytes or the new ones, also after a
// power cut. The error of a full or read-only disk names the path, and nothing is left behind.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes, Readers readers = Readers::owner);

// As write_file_atomic for readers, but not synced: for what a power cut makes untrue anyway.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

// As write_file_atomic, but never replaces: false when `path` exists already. Of several callers exactly one gets true.
bool create_file_exclusive(const std::filesystem::path& path, std::string_view bytes, Readers readers = Readers::owner);

// All bytes to an open descriptor, whatever signals and short writes come in between. An environment error names `path`.
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

// Names in a folder, in no order, without "." and ".."; none when there is no such folder. A SystemError when the folder
// cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Makes the folder and its parents; the modes of those that exist stay as they are. Returns false when the folder existed already.
bool make_folders(const std::filesystem::path& path, Readers readers = Readers::owner);

// "0755" where other users may look into the folder; nothing when it is closed to them or not there.
std::optional<std::string> open_mode(const std::filesystem::path& folder);

// An advisory lock on a file (flock), held while the object lives and by nobody else on this machine.
class FileLock {
public:
  // Waits for it.
  static FileLock acquire(const std::filesystem::path& path);
  // Nothing when somebody else holds it.
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
