#include "core/home/locked_home.hpp"

#include "core/files/temporary_file.hpp"
#include "core/home/home_identity.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

fs::path lock_of(const Home& home) { return home.root() / "submit.lock"; }

std::string holder_of(const fs::path& lock)
{
  const auto text = trim(read_file_if_exists(lock).value_or(""));
  return text.empty() ? "another process" : printable(std::string(text));
}

// Calls a function after two seconds, unless it is destroyed before.
class Reminder {
 public:
  explicit Reminder(std::function<void()> tell)
      : thread_([this, tell = std::move(tell)] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, std::chrono::seconds(2), [this] { return is_over_; })) tell();
        })
  {
  }
  Reminder(const Reminder&) = delete;
  Reminder& operator=(const Reminder&) = delete;
  ~Reminder()
  {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_; // last, because it uses the others
};

// Calls a function that makes or opens a file of the home.
template<class Work> auto in_writable(const Home& home, Work work)
{
  try {
    return work();
  } catch (const SystemError& error) {
    if (error.number() != EROFS && error.number() != EACCES && error.number() != EPERM) throw;
    throw Error(ErrorKind::environment,
                fmt::format("The home {} cannot be written ({}), so nothing was changed. Make it writable, or set DTCTL_HOME to "
                            "another folder",
                            printable(home.root().string()), std::generic_category().message(error.number())));
  }
}

FileLock acquire(const fs::path& path, const LockedHome::Waiting& waiting)
{
  if (auto lock = FileLock::try_acquire(path)) return std::move(*lock);
  if (!waiting) return FileLock::acquire(path);
  const Reminder reminder([&] { waiting(holder_of(path)); });
  return FileLock::acquire(path);
}

} // namespace

LockedHome::LockedHome(const Home& home, const Waiting& waiting)
    : LockedHome(home, in_writable(home, [&] { return make_folders(home.root()), acquire(lock_of(home), waiting); }))
{
}

LockedHome LockedHome::existing(const Home& home, const Waiting& waiting)
{
  if (!is_there(home.root()))
    throw Error(ErrorKind::usage,
                fmt::format("{} does not exist, so there is nothing to change in it. DTCTL_HOME names the home; the first "
                            "submission makes it",
                            printable(home.root().string())));
  return {home, in_writable(home, [&] { return acquire(lock_of(home), waiting); })};
}

LockedHome::LockedHome(const Home& home, FileLock lock) : Home(home), lock_(std::move(lock))
{
  establish_identity(home);
  // Only for the message of those who wait, so a full disk is no reason to stop.
  const auto holder = fmt::format("process {} on {}\n", ::getpid(), host_name());
  if (::ftruncate(lock_.descriptor(), 0) == 0) (void)!::pwrite(lock_.descriptor(), holder.data(), holder.size(), 0);
}

std::optional<LockedHome> LockedHome::try_lock(const Home& home)
{
  auto lock = !is_there(lock_of(home)) || original_of(home) ? std::nullopt : FileLock::try_acquire(lock_of(home));
  if (!lock) return std::nullopt;
  return LockedHome(home, std::move(*lock));
}

bool LockedHome::is_locked(const Home& home)
{
  const auto path = lock_of(home);
  return is_there(path) && !FileLock::try_acquire(path);
}

} // namespace dt
