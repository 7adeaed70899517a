// Parts: does several things although some of them fail.
#pragma once

#include <exception>

namespace dt::jobs {

// A record that cannot be written must not keep the others from being written.
class Parts {
 public:
  template<class Action> void attempt(Action action)
  {
    try {
      action();
    } catch (const std::exception&) {
      if (!first_) first_ = std::current_exception();
    }
  }
  // Throws the first error, if there was one.
  void require_success() const
  {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

} // namespace dt::jobs
