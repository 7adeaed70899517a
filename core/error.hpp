// The project's exception type and dtctl's exit codes. Errors are classified by who must act on them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace dt {

// dtctl's exit codes. Do not change them: scripts depend on them (tests/core/error_test.cpp).
enum class ExitCode : int {
  ok = 0,
  runs_failed = 1,
  usage = 2,                 // the command line or the recipe is wrong
  scheduler_unreachable = 3, // nothing was lost; the user can try again later
  partly_submitted = 4,
  regression = 5,
  internal = 70,    // a bug in dtctl (EX_SOFTWARE)
  environment = 74, // the machine refused an operation: disk full, read-only, program missing (EX_IOERR)
  wait_timed_out = 124,
};

// Who must act on an error.
enum class ErrorKind {
  usage,       // the user: the command line is wrong
  recipe,      // the author of the recipe
  scheduler,   // the cluster's operator: the scheduler is down or refused the request
  run,         // the user, with the run's logs: a job failed
  environment, // the owner of the machine: disk, permissions, missing programs
  internal,    // the developers of dtctl: a bug
};

ExitCode exit_code_of(ErrorKind kind);
std::string_view name_of(ErrorKind kind);

// An error of a known kind. what() is one or more full sentences: what happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  // Returns the same error with "context: " in front of its message.
  Error within(std::string_view context) const;

 private:
  ErrorKind kind_;
};

// An environment error that a system call reported through errno.
class SystemError : public Error {
 public:
  SystemError(std::string_view what, int error_number);
  int number() const { return number_; }

 private:
  int number_;
};

// Makes the error "open /x/y: No space left on device" from what = "open /x/y" and an errno value.
SystemError system_error(std::string_view what, int error_number);

// Whether a system call failed with this errno value because the disk is full or the user's quota is used up.
bool is_lack_of_space(int error_number);

} // namespace dt
