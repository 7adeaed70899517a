// The functions of the C interface return -1 instead of throwing.
#pragma once

#include <exception>
#include <string>

namespace dt::bindings {

// The text of this thread's last error, which dtctl_sync_error() returns.
std::string& last_error();

// Runs the action. Returns 0, or -1 if it throws; then its text is in last_error().
template<class Action> int guarded(const Action& action)
{
  try {
    action();
    return 0;
  } catch (const std::exception& error) {
    last_error() = error.what();
  } catch (...) {
    last_error() = "an unknown error";
  }
  return -1;
}

} // namespace dt::bindings
