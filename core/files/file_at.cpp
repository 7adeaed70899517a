#include "core/files/file_at.hpp"

#include "core/units.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include <fcntl.h>
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

double seconds_of(const timespec& time) { return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec); }

int open_unnamed(const std::filesystem::path& folder)
{
  const int opened = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (opened >= 0) return opened;
  auto name = (folder / ".clock-XXXXXX").string(); // NFS, for example
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

// By how much the clock of the folder's file system is ahead of this process's; 0 if nothing can be written there.
double lead_now(const std::filesystem::path& folder)
{
  const Descriptor probe(open_unnamed(folder));
  struct stat facts {};
  const bool is_written = probe.is_open() && ::write(probe.get(), "", 1) == 1 && ::fsync(probe.get()) == 0;
  return is_written && ::fstat(probe.get(), &facts) == 0 ? seconds_of(facts.st_mtim) - now_unix_s() : 0;
}

// The same, asked at most every ten seconds for each file system: a command looks at thousands of files.
double lead_of(dev_t system, const std::filesystem::path& folder)
{
  using Clock = std::chrono::steady_clock;
  struct Known {
    Clock::time_point asked;
    double lead_s;
  };
  static std::mutex mutex;
  static std::map<dev_t, Known> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(system);
  if (found != known.end() && Clock::now() - found->second.asked < std::chrono::seconds(10)) return found->second.lead_s;
  return (known[system] = {Clock::now(), lead_now(folder)}).lead_s;
}

} // namespace

double changed_unix_s(const std::filesystem::path& file)
{
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return std::numeric_limits<double>::quiet_NaN();
  return seconds_of(facts.st_mtim) - lead_of(facts.st_dev, file.parent_path());
}

Descriptor open_regular(const std::filesystem::path& path, int flags)
{
  Descriptor file(::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  const auto failure = failed("open", path);
  struct stat facts {};
  const bool is_known = file.is_open() ? ::fstat(file.get(), &facts) == 0 : ::stat(path.c_str(), &facts) == 0;
  if (is_known && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) // a FIFO that nobody reads cannot even be opened
    throw IrregularFile("write " + path.string() + ": Is a FIFO or a device, not a file");
  if (!file.is_open()) throw failure;
  ::fcntl(file.get(), F_SETFL, flags & O_APPEND); // programs that inherit it expect it to block
  return file;
}

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
