#include "jobs/slurm/access/captured_words.hpp"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dt::jobs::slurm {

CapturedWords::CapturedWords()
    : file_(memfd_create("libslurm", MFD_CLOEXEC)), before_(file_ < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3))
{
  if (before_ >= 0) dup2(file_, STDERR_FILENO);
}

CapturedWords::~CapturedWords()
{
  if (before_ >= 0) dup2(before_, STDERR_FILENO);
  if (before_ >= 0) close(before_);
  if (file_ >= 0) close(file_);
}

std::string CapturedWords::last() const
{
  std::array<char, 1024> buffer{};
  const auto size = file_ < 0 ? 0 : lseek(file_, 0, SEEK_END);
  const auto count = size <= 0 ? 0 : pread(file_, buffer.data(), buffer.size(), std::max<off_t>(size - 1024, 0));
  std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  const auto mark = text.find("error: ");
  return mark == std::string::npos ? text : text.substr(mark + 7);
}

} // namespace dt::jobs::slurm
