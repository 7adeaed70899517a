// The Python that runs PyTorch scripts in tests.
#pragma once

#include "core/process.hpp"

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

namespace dt::test {

// DTCTL_TEST_PYTHON names another interpreter than Debian's.
inline std::string python()
{
  const char* named = std::getenv("DTCTL_TEST_PYTHON");
  return named != nullptr ? named : "/usr/bin/python3";
}

// Whether it can import these modules; tells that the test is skipped if not.
inline bool has_torch(const std::string& modules = "torch")
{
  if (run_command({python(), "-c", "import " + modules}).ok()) return true;
  WARN("SKIPPED: " << python() << " has no PyTorch (Debian: python3-torch)");
  return false;
}

} // namespace dt::test
