// Verb: the options of one verb. A facade of CLI11, whose headers take seconds to compile: only the files that parse and print
// help include them.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace dt::cli {

// Checks an option's value and may change it. Returns the error, or nothing if the value is right.
using Validator = std::function<std::string(std::string& value)>;

// An option or a positional argument. Every function returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* required();
  // The name of the value in help: "N", "FILE".
  Option* type_name(const std::string& name);
  Option* check(const Validator& validator);
  // The value must be one of these.
  Option* one_of(const std::vector<std::string>& values);
  // The option is only allowed together with the other one.
  Option* needs(Option* other);
  // The option is not allowed together with the other one.
  Option* excludes(Option* other);

 private:
  CLI::Option* option_;
};

class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;
  CLI::App& app() { return *app_; }
  const CLI::App& app() const { return *app_; }
  // An option ("-n,--limit") or a positional argument ("RUN") whose value is stored in `value`. Defined for the types that are
  // listed in verb.cpp.
  template<class Value> Option* add_option(const std::string& flags, Value& value, const std::string& help);
  // An option without a value.
  Option* add_flag(const std::string& flags, bool& value, const std::string& help);
  // An option that can be repeated, with one value each time.
  Option* add_list(const std::string& flags, std::vector<std::string>& values, const std::string& help);

 private:
  Option* keep(CLI::Option* option) { return &options_.emplace_back(option); }
  CLI::App* app_;
  std::deque<Option> options_; // a deque does not move its elements
};

} // namespace dt::cli
