#include "core/error.hpp"

#include <cerrno>
#include <cstring>

namespace dt {

ExitCode exit_code_of(ErrorKind kind)
{
  switch (kind) {
  case ErrorKind::usage:
  case ErrorKind::recipe:
    return ExitCode::usage;
  case ErrorKind::scheduler:
    return ExitCode::scheduler_unreachable;
  case ErrorKind::run:
    return ExitCode::runs_failed;
  case ErrorKind::environment:
    return ExitCode::environment;
  case ErrorKind::internal:
    return ExitCode::internal;
  }
  return ExitCode::internal;
}

std::string_view name_of(ErrorKind kind)
{
  switch (kind) {
  case ErrorKind::usage:
    return "usage";
  case ErrorKind::recipe:
    return "recipe";
  case ErrorKind::scheduler:
    return "scheduler";
  case ErrorKind::run:
    return "run";
  case ErrorKind::environment:
    return "environment";
  case ErrorKind::internal:
    return "internal";
  }
  return "internal";
}

Error Error::within(std::string_view context) const { return Error(kind_, std::string(context) + ": " + what()); }

SystemError::SystemError(std::string_view what, int error_number)
    : Error(ErrorKind::environment, std::string(what) + ": " + std::strerror(error_number)), number_(error_number)
{
}

SystemError system_error(std::string_view what, int error_number) { return {what, error_number}; }

bool is_lack_of_space(int error_number) { return error_number == ENOSPC || error_number == EDQUOT; }

} // namespace dt
