#include "jobs/agent/attempt_place.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"

#include <cerrno>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

namespace dt::jobs::agent {

AttemptPlace::AttemptPlace(const AttemptFolder& attempt) : path_(attempt.path())
{
  open();
  watch();
}

void AttemptPlace::open()
{
  if (folder_) return;
  const int opened = ::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) folder_.emplace(opened);
}

bool AttemptPlace::await(const std::function<void()>& begin_to_wait)
{
  for (bool is_first = true; was_removed() || !is_at_its_path(); is_first = false) {
    if (is_lost()) return false;
    if (is_first) begin_to_wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  open();
  return true;
}

bool AttemptPlace::is_lost()
{
  if (was_removed()) return true; // also if a program has made another folder at its path
  if (is_at_its_path()) {
    absent_since_.reset();
    return false;
  }
  if (!absent_since_) absent_since_ = Clock::now();
  return Clock::now() - *absent_since_ >= patience;
}

// A file system that does not answer now may still have the folder.
bool AttemptPlace::is_at_its_path() const
{
  try {
    return is_there(path_);
  } catch (const Error&) {
    return true;
  }
}

bool AttemptPlace::was_removed() const
{
  struct stat facts {};
  if (!folder_) return false;
  return ::fstat(folder_->get(), &facts) != 0 ? errno == ESTALE : facts.st_nlink == 0;
}

std::filesystem::path AttemptPlace::real_path() const
{
  std::error_code error;
  return folder_ ? std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(folder_->get()), error) : "";
}

void AttemptPlace::watch() { watched_ = real_path(); }

bool AttemptPlace::has_moved() const { return !is_at_its_path() || real_path() != watched_; }

} // namespace dt::jobs::agent
