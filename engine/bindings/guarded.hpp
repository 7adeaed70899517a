// How the functions of the C interface tell of errors.
#pragma once

#include <exception>
#include <string>

namespace dt::bindings {

// Of this thread: what dtctl_sync_error() says.
std::string& last_error();

// 0, or -1 if the action has thrown; then last_error() says what.
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
