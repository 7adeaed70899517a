#include "cli/output/terminal.hpp"

#include "core/number.hpp"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace dt::cli {
namespace {

std::string_view variable(const char* name)
{
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::size_t columns_from_environment() { return number_of<std::size_t>(variable("COLUMNS")).value_or(0); }

} // namespace

Terminal describe_terminal(int descriptor)
{
  Terminal terminal;
  terminal.is_terminal = ::isatty(descriptor) == 1 && variable("TERM") != "dumb";
  terminal.colour = terminal.is_terminal && variable("NO_COLOR").empty();
  winsize size{};
  if (::isatty(descriptor) == 1 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  }
  if (const auto columns = columns_from_environment(); columns > 0) terminal.columns = columns;
  return terminal;
}

} // namespace dt::cli
