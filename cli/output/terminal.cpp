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

bool is_set(const char* name) { return !variable(name).empty() && variable(name) != "0"; }

// NO_COLOR (no-color.org) is the strongest; then FORCE_COLOR and CLICOLOR_FORCE, which colour pipes too, but for the value 0;
// then CLICOLOR=0, which takes the colour from terminals (bixense.com/clicolors).
bool wants_colour(bool is_terminal)
{
  if (!variable("NO_COLOR").empty()) return false;
  if (is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE")) return true;
  return is_terminal && variable("CLICOLOR") != "0";
}

} // namespace

Terminal describe_terminal(int descriptor)
{
  Terminal terminal;
  terminal.is_terminal = ::isatty(descriptor) == 1 && variable("TERM") != "dumb";
  terminal.colour = wants_colour(terminal.is_terminal);
  winsize size{};
  if (::isatty(descriptor) == 1 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  }
  if (const auto columns = columns_from_environment(); columns > 0) terminal.columns = columns;
  return terminal;
}

} // namespace dt::cli
