// An environment variable that a test sets or unsets, put back at the end.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace dt::test {

class Variable {
 public:
  explicit Variable(std::string name, const std::optional<std::string>& value = std::nullopt) : name_(std::move(name))
  {
    if (const char* now = std::getenv(name_.c_str())) before_ = now;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_); }
  void set(const std::optional<std::string>& value) const
  {
    value ? ::setenv(name_.c_str(), value->c_str(), 1) : ::unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

} // namespace dt::test
