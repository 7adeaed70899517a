#include "jobs/program/pending_text.hpp"

#include "core/descriptor.hpp"
#include "core/error.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace dt::jobs {

int PendingText::write_to(int descriptor, std::size_t& done) const
{
  while (done < text_.size()) {
    const auto* from = text_.data() + done;
    const auto bytes = text_.size() - done;
    const auto got = writers_ == Writers::shared ? ::write(descriptor, from, bytes)
                                                 : ::pwrite(descriptor, from, bytes, written_ + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : ENOSPC;
    done += static_cast<std::size_t>(got);
  }
  return 0;
}

void PendingText::write()
{
  if (text_.empty()) return;
  const bool is_shared = writers_ == Writers::shared;
  Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (is_shared ? O_APPEND : 0), 0600));
  if (!file.is_open()) throw system_error("open " + path_.string(), errno);
  std::size_t done = 0;
  int error = write_to(file.get(), done);
  if (file.close() != 0 && error == 0) error = errno;
  if (error == 0 || is_shared) text_.erase(0, done);
  if (error != 0) throw system_error("write " + path_.string(), error);
  written_ += static_cast<std::int64_t>(done);
}

} // namespace dt::jobs
