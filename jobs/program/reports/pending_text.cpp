#include "jobs/program/reports/pending_text.hpp"

#include "core/error.hpp"
#include "core/files/file_at.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace dt::jobs {

void PendingText::write()
{
  if (text_.empty()) return;
  auto file = open_regular(path_, O_WRONLY | O_CREAT | O_APPEND);
  std::size_t done = 0;
  int error = 0;
  while (done < text_.size() && error == 0) {
    const auto got = ::write(file.get(), text_.data() + done, text_.size() - done);
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (got == 0 || errno != EINTR)
      error = got == 0 ? ENOSPC : errno;
  }
  if (file.close() != 0 && error == 0) error = errno;
  text_.erase(0, done);
  if (error != 0) throw system_error("write " + path_.string(), error);
}

} // namespace dt::jobs
