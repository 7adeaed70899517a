// Shell completion and the manual page, derived from the App that parses the command line.
#pragma once

#include "cli/command/commands.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dt::cli {

struct Candidate {
  std::string word, help;
};

struct Completion {
  std::vector<Candidate> candidates; // the candidates that begin with the word under the cursor
  bool files = false;                // file names are possible too
};

// Returns the current values of a kind: "SELECTOR", "RECIPE", "NAME" (of a profile), "KEY=VALUE".
using Values = std::function<std::vector<Candidate>(const std::string& kind)>;

// `words` are the words after "dtctl". The last one is under the cursor and may be empty.
Completion complete(const CLI::App& root, const std::vector<std::string>& words, const Values& values);

// The completion script for a shell; it calls `dtctl __complete`. Throws a usage error for an unknown shell.
std::string completion_script(const std::string& shell);

// The manual page dtctl(1) in roff.
std::string manual_page(const CLI::App& root);

} // namespace dt::cli
