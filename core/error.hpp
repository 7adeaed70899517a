// Errors, typed by who must act, and the exit codes they lead to.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace dt {

// dtctl's exit codes. Frozen: scripts depend on them (tests/core/error_test.cpp).
enum class ExitCode : int {
  ok = 0,
  runs_failed = 1,
  usage = 2,                 // a wrong command line or a wrong recipe
  scheduler_unreachable = 3, // nothing was lost; try again later
  partly_submitted = 4,
  regression = 5,
  internal = 70,    // a defect in dtctl (EX_SOFTWARE)
  environment = 74, // the machine refused: disk full, read-only, program missing (EX_IOERR)
  wait_timed_out = 124,
};

// Who must act on an error.
enum class ErrorKind {
  usage,       // the caller: the command line was wrong
  recipe,      // the recipe's author
  scheduler,   // the site: the scheduler is down or refused
  run,         // the reader of the run's logs: a job failed
  environment, // the machine's owner: disk, permissions, missing programs
  internal,    // us
};

ExitCode exit_code_of(ErrorKind kind);
std::string_view name_of(ErrorKind kind);

// what() is one or more whole sentences: what happened, where, and what to do.
class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  // The same error with "context: " put before its message.
  Error within(std::string_view context) const;

private:
  ErrorKind kind_;
};

// An environment error that a system call has reported.
class SystemError : public Error {
public:
  SystemError(std::string_view what, int error_number);
  int number() const { return number_; }

private:
  int number_;
};

// "open /x/y: No space left on device", from errno, as an environment error.
SystemError system_error(std::string_view what, int error_number);

} // namespace dt
