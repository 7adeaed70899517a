// Calls NumPy, for tests of files that Python shares with us.
#pragma once

#include "core/machine/process.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace dt::test {

// False, with a warning, where /usr/bin/python3 has no NumPy.
inline bool has_numpy()
{
  std::error_code ignored;
  const bool has_python = std::filesystem::exists("/usr/bin/python3", ignored);
  if (has_python && dt::run_command({"/usr/bin/python3", "-c", "import numpy"}).ok()) return true;
  WARN("SKIPPED: /usr/bin/python3 has no NumPy");
  return false;
}

// Runs a script that may use sys and numpy, and finds the arguments from sys.argv[1] on.
inline void run_python(const std::string& script, const std::vector<std::string>& arguments)
{
  std::vector<std::string> words{"/usr/bin/python3", "-c", "import sys, numpy\n" + script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto result = dt::run_command(words);
  INFO(result.err);
  REQUIRE(result.ok());
}

} // namespace dt::test
