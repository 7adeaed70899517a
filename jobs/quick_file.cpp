#include "jobs/quick_file.hpp"

#include "core/error.hpp"
#include "core/file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor()
  {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  // Closing tells of a failed write on network file systems and quotas.
  int close() { return ::close(std::exchange(value_, -1)); }

 private:
  int value_;
};

// The bytes beside their target, removed unless they were moved there.
class Temporary {
 public:
  Temporary(const fs::path& target, std::string_view bytes)
  {
    Descriptor file(create_beside(target));
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    const int error = written == static_cast<ssize_t>(bytes.size()) ? 0 : written < 0 ? errno : ENOSPC;
    if (error == 0 && file.close() == 0) return;
    const int cause = error != 0 ? error : errno;
    ::unlink(path_.c_str());
    throw system_error("write " + target.string(), cause);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary()
  {
    if (!moved_) ::unlink(path_.c_str());
  }
  const fs::path& path() const { return path_; }
  void moved() { moved_ = true; }

 private:
  // A name can be taken: by what a killed process of this number left behind, or by a link that somebody laid there.
  int create_beside(const fs::path& target)
  {
    static std::atomic<unsigned> counter{0};
    const auto stem = "." + target.filename().string() + "." + std::to_string(::getpid()) + ".";
    for (;;) {
      path_ = target.parent_path() / (stem + std::to_string(counter++));
      const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (descriptor >= 0) return descriptor;
      if (errno != EEXIST) throw system_error("create " + target.string(), errno);
    }
  }

  fs::path path_;
  bool moved_ = false;
};

} // namespace

void write_file_quick(const fs::path& path, std::string_view bytes)
{
  Temporary temporary(path, bytes);
  if (std::rename(temporary.path().c_str(), path.c_str()) != 0) throw system_error("rename to " + path.string(), errno);
  temporary.moved();
}

void write_new_file_quick(const fs::path& path, std::string_view bytes)
{
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) throw system_error("create " + path.string(), errno);
  try {
    write_all(file.get(), bytes, path);
    if (file.close() != 0) throw system_error("write " + path.string(), errno);
  } catch (const Error&) {
    ::unlink(path.c_str()); // made here, by nobody else
    throw;
  }
}

void extend_file_quick(const fs::path& path, std::string_view bytes)
{
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) throw system_error("open " + path.string(), errno);
  write_all(file.get(), bytes, path);
  if (file.close() != 0) throw system_error("write " + path.string(), errno);
}

bool create_file_quick(const fs::path& path, std::string_view bytes)
{
  const Temporary temporary(path, bytes);
  if (::link(temporary.path().c_str(), path.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  throw system_error("link to " + path.string(), errno);
}

void sync_filesystem(const fs::path& folder)
{
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::syncfs(directory.get()) != 0)
    throw system_error("sync the file system of " + folder.string(), errno);
}

std::string read_tail(const fs::path& path, std::size_t bytes)
{
  const Descriptor file(open_if_exists(path));
  if (file.get() < 0) return {};
  const auto size = ::lseek(file.get(), 0, SEEK_END);
  const auto start = size > static_cast<off_t>(bytes) ? size - static_cast<off_t>(bytes) : 0;
  std::string text(bytes, '\0');
  const auto got = ::pread(file.get(), text.data(), bytes, start);
  if (got < 0) throw system_error("read " + path.string(), errno);
  text.resize(static_cast<std::size_t>(got));
  return text;
}

} // namespace dt::jobs
