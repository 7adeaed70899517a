// What may come next on a command line, from the same App that parses it.
#pragma once

#include "cli/commands.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dt::cli {

struct Candidate {
  std::string word, help;
};

struct Completion {
  std::vector<Candidate> candidates; // those that begin with the word under the cursor
  bool files = false;                // names of files fit too
};

// Values of a kind that only the present state knows: "SELECTOR", "RECIPE", "NAME" (of a profile), "KEY=VALUE".
using Values = std::function<std::vector<Candidate>(const std::string& kind)>;

// `words` are those behind "dtctl"; the last is the one under the cursor, perhaps empty.
Completion complete(const CLI::App& root, const std::vector<std::string>& words, const Values& values);

// A shell's script, which asks `dtctl __complete`. A usage error for an unknown shell.
std::string completion_script(const std::string& shell);

// The manual page dtctl(1), in roff.
std::string manual_page(const CLI::App& root);

} // namespace dt::cli
