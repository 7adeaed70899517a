// The shipped networks beside PyTorch's, rebuilt from what `dtctl recipe models` prints.
#include "core/process.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

namespace {

// DTCTL_TEST_PYTHON names another interpreter than Debian's.
std::string python()
{
  const char* named = std::getenv("DTCTL_TEST_PYTHON");
  return named != nullptr ? named : "/usr/bin/python3";
}

} // namespace

TEST_CASE("every shipped network, rebuilt in PyTorch from its description, gives the same logits for the same weights")
{
  if (!dt::run_command({python(), "-c", "import torch, numpy"}).ok()) {
    WARN("SKIPPED: " << python() << " has no PyTorch (Debian: python3-torch)");
    return;
  }
  const auto result = dt::run_command(
      {python(), "-B", DTCTL_SOURCE_DIR "/scripts/peers/compare_logits.py", "--bin", DTCTL_BINARY_DIR "/bin"}, 500);
  INFO(result.out << result.err);
  CHECK(result.ok());
}
