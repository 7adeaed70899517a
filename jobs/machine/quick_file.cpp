#include "jobs/machine/quick_file.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/files/temporary_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

TemporaryFile unsynced(const fs::path& path, std::string_view bytes) { return {path, bytes, TemporaryFile::Synced::no, 0600}; }

} // namespace

void write_file_quick(const fs::path& path, std::string_view bytes) { unsynced(path, bytes).rename_to_target(); }

void write_new_file_quick(const fs::path& path, std::string_view bytes)
{
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) throw system_error("create " + path.string(), errno);
  try {
    write_all(file.get(), bytes, path);
    if (file.close() != 0) throw system_error("write " + path.string(), errno);
  } catch (const Error&) {
    ::unlink(path.c_str()); // safe: this call created the file
    throw;
  }
}

void extend_file_quick(const fs::path& path, std::string_view bytes)
{
  auto file = open_regular(path, O_WRONLY);
  write_all(file.get(), bytes, path);
  if (file.close() != 0) throw system_error("write " + path.string(), errno);
}

bool create_file_quick(const fs::path& path, std::string_view bytes) { return unsynced(path, bytes).link_to_target(); }

void sync_filesystem(const fs::path& folder)
{
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::syncfs(directory.get()) != 0)
    throw system_error("sync the file system of " + folder.string(), errno);
}

std::string read_tail(const fs::path& path, std::size_t bytes)
{
  const auto file = open_if_exists(path);
  if (!file.is_open()) return {};
  const auto size = ::lseek(file.get(), 0, SEEK_END);
  const auto start = size > static_cast<off_t>(bytes) ? size - static_cast<off_t>(bytes) : 0;
  std::string text(bytes, '\0');
  const auto got = ::pread(file.get(), text.data(), bytes, start);
  if (got < 0) throw system_error("read " + path.string(), errno);
  text.resize(static_cast<std::size_t>(got));
  return text;
}

} // namespace dt::jobs
