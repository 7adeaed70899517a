#include "core/file_at.hpp"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace dt {
namespace {

SystemError failed(std::string_view verb, const std::filesystem::path& path)
{
  const int number = errno;
  return system_error(std::string(verb) + " " + path.string(), number);
}

bool is_file_at(const FileLock& lock, const std::filesystem::path& path)
{
  struct stat held {
  }, there{};
  return ::fstat(lock.descriptor(), &held) == 0 && ::stat(path.c_str(), &there) == 0 && held.st_ino == there.st_ino &&
         held.st_dev == there.st_dev;
}

} // namespace

std::uint64_t read_at(int descriptor, char* bytes, std::uint64_t count, std::uint64_t begin, const std::filesystem::path& path)
{
  std::uint64_t done = 0;
  while (done < count) {
    const auto got = ::pread(descriptor, bytes + done, count - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failed("read", path);
    if (got == 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  return done;
}

void write_at(int descriptor, std::string_view bytes, std::uint64_t begin, const std::filesystem::path& path)
{
  while (!bytes.empty()) {
    const auto put = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    begin += static_cast<std::uint64_t>(put);
  }
}

std::optional<FileLock> try_lock_removable(const std::filesystem::path& path)
{
  while (true) {
    auto lock = FileLock::try_acquire(path);
    if (!lock || is_file_at(*lock, path)) return lock;
  }
}

} // namespace dt
