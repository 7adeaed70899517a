// What a process inherits from the shell that starts it, besides variables and cores: niceness, umask and limits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dt {

struct Surroundings {
  struct Limit {
    std::uint64_t soft = 0, hard = 0; // ~0: unlimited
  };
  int niceness = 0;
  unsigned umask = 022;
  std::map<std::string, Limit> limits; // by their names for `ulimit`: "nofile", "stack", …
};

Surroundings own_surroundings();

// Gives them to this process, as far as the kernel allows it: without a privilege nobody gets a lower niceness or a higher hard
// limit than the process has.
void take_over(const Surroundings& wanted);

// For a process that serves other shells than its own: niceness 0, and limits as high as the kernel allows.
void leave_surroundings();

// Whether a process with these could give others more than one with `other` could.
bool allow_more(const Surroundings& own, const Surroundings& other);

// As a run records them: "niceness" -> "7", "umask" -> "0027", "limits" -> "nofile 500, stack 4194304"; without unlimited ones.
std::map<std::string, std::string> facts_of(const Surroundings& surroundings);

// One line of JSON. What is missing or damaged in a text stays as in a default object.
std::string to_json(const Surroundings& surroundings);
Surroundings parse_surroundings(std::string_view json);

} // namespace dt
