// The error of work that runs out of memory.
#pragma once

#include "core/error.hpp"

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace dt::data {

// what: the work and its place, "packed set /data/a.pack: record 3".
inline Error out_of_memory(std::string_view what)
{
  return {ErrorKind::environment,
          std::string(what) + ": out of memory. Give the job more memory, or start fewer ranks or threads on a node."};
}

// The exception that is being handled. If memory ran out, the error says during what.
template<class What> std::exception_ptr failure_of(const What& what)
{
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return std::make_exception_ptr(out_of_memory(what()));
    }
  } catch (...) { // any other exception, or no memory for the message
    return std::current_exception();
  }
}

} // namespace dt::data
