#include "core/files/temporary_file.hpp"

#include "core/error.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt {

namespace fs = std::filesystem;

namespace {

bool is_same_file(const fs::path& a, const fs::path& b)
{
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

} // namespace

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

TemporaryFile::TemporaryFile(const fs::path& target, std::string_view bytes, Synced synced, mode_t mode) : target_(target)
{
  const auto flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  static std::atomic<unsigned> counter{0};
  const auto stem = "." + target.filename().string() + "." + std::to_string(::getpid()) + ".";
  int opened = -1;
  // A name can be taken: by a file that a killed process with this number left, by a process on another node, by somebody's link.
  do {
    path_ = folder_of(target) / (stem + std::to_string(counter++));
    opened = ::open(path_.c_str(), flags, mode);
  } while (opened < 0 && errno == EEXIST);
  if (opened < 0) throw system_error("create " + target.string(), errno);
  Descriptor file(opened);
  try {
    write_all(file.get(), bytes, target);
    if (synced == Synced::yes && ::fsync(file.get()) != 0) throw system_error("sync " + target.string(), errno);
    if (file.close() != 0) throw system_error("write " + target.string(), errno);
  } catch (...) {
    ::unlink(path_.c_str());
    throw;
  }
}

TemporaryFile::~TemporaryFile()
{
  if (!renamed_) ::unlink(path_.c_str());
}

void TemporaryFile::rename_to_target()
{
  if (std::rename(path_.c_str(), target_.c_str()) != 0) throw system_error("rename to " + target_.string(), errno);
  renamed_ = true; // another process may have taken the temporary name by now
}

bool TemporaryFile::link_to_target() const
{
  if (::link(path_.c_str(), target_.c_str()) == 0) return true;
  // A network file system may repeat a request whose answer was lost, and then reports EEXIST for the link that it has made.
  if (errno == EEXIST) return is_same_file(path_, target_);
  throw system_error("link to " + target_.string(), errno);
}

} // namespace dt
