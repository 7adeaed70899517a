// The error an action ends in, to look at its kind and its exact text.
#pragma once

#include "core/error.hpp"

#include <stdexcept>

namespace dt::test {

template<class Action> Error error_of(Action action)
{
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("the action was expected to end in a dt::Error, and did not");
}

template<class Action> std::string message_of(Action action) { return error_of(action).what(); }

} // namespace dt::test
