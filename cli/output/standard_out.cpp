#include "cli/output/standard_out.hpp"

#include "core/error.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace dt::cli {
namespace {

void check(bool written)
{
  if (written || errno == EPIPE) return;
  throw system_error("write the results to standard output", errno);
}

} // namespace

void write_out(std::string_view text) { check(text.empty() || std::fwrite(text.data(), 1, text.size(), stdout) == text.size()); }

void flush_out() { check(std::fflush(stdout) == 0); }

bool reader_left() { return std::ferror(stdout) != 0; }

void survive_closed_pipes()
{
  // Install a handler instead of SIG_IGN: exec resets handlers, but jobs would inherit an ignored signal.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, nullptr);
}

} // namespace dt::cli
