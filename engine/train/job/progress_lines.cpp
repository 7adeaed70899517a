#include "engine/train/job/progress_lines.hpp"

#include "core/error.hpp"

#include <csignal>
#include <cstdio>

#include <unistd.h>

namespace dt::train {

void report_images(std::int64_t done, std::int64_t all)
{
  std::printf("images %lld %lld\n", static_cast<long long>(done), static_cast<long long>(all));
  if (std::fflush(stdout) != 0) throw Error(ErrorKind::environment, "the reader of the progress has ended; the work was stopped");
}

void follow_reader()
{
  std::signal(SIGPIPE, SIG_IGN);
  if (::isatty(STDOUT_FILENO) == 0) std::signal(SIGINT, SIG_IGN);
}

} // namespace dt::train
